import { formatCount } from '../../ui/format-count.ts';

const counted = (one: string) => (count: number) => `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`;

/** The texts of lists of values. */
export const listStrings = {
  label: 'List',
  one: { id: 'Subscription ids', iccid: 'ICCIDs', 'device-id': 'Device ids' },
  count: { id: counted('subscription id'), iccid: counted('ICCID'), 'device-id': counted('device id') },
  of: (counted: string) => `Subscriptions with any of ${counted}`,
  phrase: (counted: string) => `of a list of ${counted}`,
  hint: 'One on each line, such as a column of a spreadsheet; at most 1,000. The list is never part of the link.',
  repeated: (count: number) => `${formatCount(count)} repeated`,
  tooLong: (max: number) => `The text is too long: paste at most ${formatCount(max)} values, one on each line.`,
  oneColumn: 'These are several columns. Copy one of them.',
  rounded:
    'The spreadsheet has rounded these numbers. Format the column there as text or as whole numbers, then copy it.',
  fault: (fault: string) => `${fault}.`,
  found: (found: number, asked: string) => `${formatCount(found)} of ${asked} found`,
  notFound: 'not found:',
  more: (count: number) => ` and ${formatCount(count)} more`,
  missing: (count: number) =>
    count === 1 ? 'the one that was not found' : `all ${formatCount(count)} that were not found`,
  ask: {
    title: {
      id: 'Which subscriptions?',
      iccid: 'Which ICCIDs?',
      'device-id': 'Which devices?',
    },
    text: 'This link filters by a list, which is too long for a link. Paste the list again.',
  },
} as const;
