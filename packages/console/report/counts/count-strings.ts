import { formatCount } from '../../ui/format-count.ts';

/** The texts of the counts of a report. */
export const countStrings = {
  menu: 'Count by',
  list: 'List',
  count: 'Subscriptions',
  share: 'Share',
  /** What is counted: one of them, and several. */
  values: {
    status: ['status', 'statuses'],
    'product-id': ['product', 'products'],
    'plan-id': ['plan', 'plans'],
    'auto-renew': ['renewal', 'renewals'],
    day: ['day', 'days'],
    month: ['month', 'months'],
  },
  ofDate: { created: ' of creation', activation: ' of activation', expiration: ' of their end' },
  inZone: (zone: string) => `in ${zone}`,
  renewal: { true: 'Renews', false: 'Does not renew' },
  listed: (shown: number, all: string) => `The first ${formatCount(shown)} of ${all} are listed.`,
  showMore: (count: number) => `Show ${formatCount(count)} more`,
  noCounts: 'These subscriptions cannot be counted',
  notByEmail: 'Counts are not available for an email address or subscriber. Remove that filter, or show the list.',
  notByList: 'Counts are not available for a list. Remove that filter, or show the list.',
  needsDates: 'Days are counted within at most 366 days. Add a filter with both dates, such as Created: last 30 days.',
} as const;
