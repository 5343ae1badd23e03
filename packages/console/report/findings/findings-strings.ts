import { formatCount } from '../../ui/format-count.ts';

/** The texts of the page Findings. */
export const findingsStrings = {
  title: 'Findings',
  hint: (total: number, end: string) =>
    `What is contradictory or missing in ${formatCount(total)} subscriptions. An end before ${end} UTC counts as past.`,
  kind: {
    'no-status': 'No status',
    'no-email': 'No email address of the subscriber',
    'created-after-activation': 'Created after its activation',
    'ends-before-activation': 'Ends before its activation',
    'active-past-end': 'Active past its end',
    'period-zero': 'Product with the period 0',
    'iccid-active-twice': 'ICCIDs with several active subscriptions',
    'device-on-two-sims': 'Devices active on several SIMs',
    'product-with-two-names': 'Products with several names',
  },
  none: 'None',
  since: (time: string) => `since ${time} UTC`,
  first: (count: number) => `The first ${formatCount(count)}:`,
  asList: 'Show as a list',
} as const;
