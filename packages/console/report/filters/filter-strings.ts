import { countOf, formatCount } from '../../ui/format-count.ts';

const counted = (one: string) => (count: number) => countOf(count, one, `${one}s`);

/** The texts of lists of values. */
const list = {
  label: 'List',
  one: { id: 'Subscription ids', iccid: 'ICCIDs', 'device-id': 'Device ids' },
  count: { id: counted('subscription id'), iccid: counted('ICCID'), 'device-id': counted('device id') },
  of: (values: string) => `Subscriptions with any of ${values}`,
  phrase: (values: string) => `of a list of ${values}`,
  hint: 'At most 1,000, such as a column of a spreadsheet: one on each line, or ICCIDs with commas. No link has the list.',
  repeated: (count: number) => `${formatCount(count)} repeated`,
  tooLong: (max: number) => `The text is too long: paste at most ${formatCount(max)} values, one on each line.`,
  rounded:
    'The spreadsheet has rounded these numbers. Format the column there as text or as whole numbers, then copy it.',
  fault: (fault: string) => `${fault}.`,
} as const;

/** The texts of filters, and of the sentence above the table. */
export const filterStrings = {
  count: counted('subscription'),
  order: {
    '-createdDate': 'newest first',
    createdDate: 'oldest first',
    '-activationDate': 'latest activation first',
    activationDate: 'earliest activation first',
    '-expirationDate': 'latest end first',
    expirationDate: 'earliest end first',
  },
  status: 'Status',
  product: 'Product',
  created: 'Created',
  activated: 'Activated',
  ends: 'Ends',
  endsWithin: 'Ends within',
  renewal: 'Renewal',
  preset: {
    today: 'today',
    yesterday: 'yesterday',
    last7: 'last 7 days',
    last30: 'last 30 days',
    thisMonth: 'this month',
    lastMonth: 'last month',
    thisQuarter: 'this quarter',
    lastQuarter: 'last quarter',
    last12Months: 'last 12 months',
  },
  within: (duration: string) => `within ${duration}`,
  days: counted('day'),
  hours: counted('hour'),
  interval: {
    any: 'at any time',
    on: (day: string) => `on ${day}`,
    between: (from: string, to: string) => `${from} to ${to}`,
    since: (day: string) => `since ${day}`,
    until: (day: string) => `until ${day}`,
    from: (time: string) => `from ${time}`,
    after: (time: string) => `after ${time}`,
    before: (time: string) => `before ${time}`,
  },
  renews: { true: 'renews', false: 'does not renew' },
  hidden: 'not in the link',
  addHint: 'Filter by, or paste ICCIDs or ids',
  noMatch: 'No subscription matches these filters',
  is: (label: string, value: string) => `${label} is ${value}`,
  editor: {
    daysRule: (max: number) => `Enter a whole number of days from 1 to ${formatCount(max)}`,
    firstProducts: (shown: number, count: number) =>
      `The first ${formatCount(shown)} of ${formatCount(count)} products. Type to find another one.`,
    noCounts: 'The counts are not available',
    from: 'From',
    to: 'To, inclusive',
    otherDay: 'Enter a date such as 2026-03-01',
    rule: (rule: string) => `Must be ${rule}`,
  },
  list,
  /** How the sentence above the table names a filter. */
  phrase: {
    status: (words: readonly string[]) => `status ${words.join(' or ')}`,
    product: (name: string) => `product ${name}`,
    preset: (period: string) => `created ${/\d/.test(period) ? 'in the ' : ''}${period}`,
    created: (interval: string) => `created ${interval}`,
    activated: (interval: string) => `activated ${interval}`,
    ends: (interval: string) => `ending ${interval}`,
    renewal: { true: 'that renew', false: 'that do not renew' },
  },
} as const;
