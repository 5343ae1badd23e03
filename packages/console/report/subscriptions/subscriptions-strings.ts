import { formatCount } from '../../ui/format-count.ts';

/** The texts of the page of the subscriptions. */
export const subscriptionsStrings = {
  sort: 'Order',
  rowsOf: (first: number, last: number, total: number) =>
    `Rows ${formatCount(first)} to ${formatCount(last)} of ${formatCount(total)}`,
  askForEmail: {
    title: 'Whose subscriptions?',
    text: 'This link filters by subscriber. Links never contain addresses, so enter the address again.',
    show: 'Show',
    remove: 'Remove this filter',
  },
  badLink: {
    title: 'This link cannot be shown',
    text: 'Nothing is shown: without its invalid parts, the link would show more subscriptions than it should.',
  },
  found: (found: number, asked: string) => `${formatCount(found)} of ${asked} found`,
  notFound: 'not found:',
  more: (count: number) => ` and ${formatCount(count)} more`,
  missing: (count: number) =>
    count === 1 ? 'the one that was not found' : `all ${formatCount(count)} that were not found`,
  askForList: {
    title: { id: 'Which subscriptions?', iccid: 'Which ICCIDs?', 'device-id': 'Which devices?' },
    text: 'This link filters by a list, which is too long for a link. Paste the list again.',
  },
} as const;
