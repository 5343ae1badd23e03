import { countOf, formatCount } from '../../ui/format-count.ts';

/** The texts of the page Findings. */
export const findingsStrings = {
  hint: (total: number, end: string) =>
    `What is contradictory or missing in ${countOf(total, 'subscription', 'subscriptions')}. An end before ${end} UTC counts as past.`,
  since: (time: string) => `Since ${time} UTC.`,
  /** The name of each kind, what it means, and what to do about it. */
  kinds: {
    'no-status': [
      'No status',
      'They match no status filter except "No status".',
      'Send a status with the next import.',
    ],
    'no-email': [
      'No email address of the subscriber',
      'The filter by email address does not find these subscriptions.',
      'Import them with the address of the subscriber.',
    ],
    'created-after-activation': [
      'Created after its activation',
      'It was active before it existed: normal if it was moved from another system.',
      'Compare both dates with the source.',
    ],
    'ends-before-activation': [
      'Ends before its activation',
      'The two dates contradict each other.',
      'Correct the dates at the source.',
    ],
    'active-past-end': [
      'Active past its end',
      'The end has passed, and the status has not followed.',
      'Import the present status, or the new end.',
    ],
    'period-zero': [
      'Product with the period 0',
      'The product says nothing about how long a subscription lasts.',
      'Correct the period of the product.',
    ],
    'iccid-active-twice': [
      'ICCIDs with several active subscriptions',
      'One SIM is counted, and perhaps paid for, more than once.',
      'End the subscriptions that are not in use.',
    ],
    'device-on-two-sims': [
      'Devices active on several SIMs',
      'One device is named by the active subscriptions of several SIMs.',
      'Check which SIM is in the device.',
    ],
    'product-with-two-names': [
      'Products with several names',
      'One product id has several names, so lists show one product as two.',
      'Choose one name, and import its subscriptions again.',
    ],
    'iccid-rounded': [
      'ICCIDs rounded by a spreadsheet',
      'They have only zeros from the 16th digit, so several SIMs may have one number.',
      'Export the ICCIDs as text, and import them again.',
    ],
    'iccid-check-digit': [
      'ICCIDs with a wrong check digit',
      'Most ICCIDs of this length fit their check digit: these may be typing errors.',
      'Compare the ICCIDs with the source.',
    ],
    'iccid-lengths': [
      'ICCIDs of a rare length',
      'At most 1 of 20 ICCIDs has this length: digits may be missing, or a check digit.',
      'Compare the ICCIDs with the source.',
    ],
  },
  nought: (count: number) => `${countOf(count, 'kind has', 'kinds have')} no finding`,
  found: (count: number, all: number) => `${formatCount(count)} of ${formatCount(all)} kinds found`,
  none: 'Nothing is contradictory or missing',
  first: (shown: number, count: number) => `${formatCount(shown)} of ${formatCount(count)} are listed.`,
} as const;
