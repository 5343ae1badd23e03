import { countOf, formatCount } from '../../ui/format-count.ts';

/** The texts of the overview. */
export const overviewStrings = {
  total: 'Subscriptions',
  activeShare: (percent: string) => `${percent} of all`,
  ofEnding: (count: number) => `of ${formatCount(count)} that ${count === 1 ? 'ends' : 'end'}`,
  endedBefore: (count: number) => `${formatCount(count)} in the 7 days before`,
  createdInWeek: (count: number, days: string) => `${formatCount(count)} new, ${days}`,
  weekBefore: (count: number) => `${formatCount(count)} the week before`,
  changed: 'Changed',
  changedSince: (time: string) => `since ${time}`,
  unknownNumber: '–',
  lastDay: 'in the last 24 hours',
  lost: 'counting starts again',
  created: (months: number, zone: string) => `Created per month, last ${months} months (${zone})`,
  createdDescription: (months: number, zone: string) =>
    `Subscriptions created in each of the last ${months} months (${zone}), by their status. The arrow keys move between months, Enter lists the subscriptions of one.`,
  createdIn: (month: string, count: number, details: readonly string[]) =>
    count === 0 ? `${month}: none created` : [`${month}: ${formatCount(count)} created`, ...details].join(', '),
  soFar: (month: string) => `${month}, so far`,
  fromNowOn: (day: string) => `${day}, from now on`,
  upTo: (day: string, days: number) => `${day}, up to ${days} days from now`,
  inMonths: (months: number) => `In these ${months} months:`,
  inDays: (days: number) => `In these ${days} days:`,
  withStatus: (count: number, status: string) => `${formatCount(count)} ${status.toLowerCase()}`,
  otherStatus: 'Other',
  month: 'Month',
  ending: (days: number, zone: string) => `Ending per day, next ${days} days (${zone})`,
  endingDescription: (days: number, zone: string) =>
    `Subscriptions that end on each of the next ${days} days (${zone}), by whether they renew automatically. The arrow keys move between days, Enter lists the subscriptions of one.`,
  endingOn: (day: string, count: number, details: readonly string[]) =>
    count === 0 ? `${day}: none end` : `${day}: ${countOf(count, 'ends', 'end')}, ${details.join(', ')}`,
  renews: 'Renews',
  renewing: (count: number) => (count === 1 ? '1 renews' : `${formatCount(count)} renew`),
  notRenewing: (count: number) => (count === 1 ? '1 does not' : `${formatCount(count)} do not`),
  day: 'Day',
  products: 'All by product',
  statuses: 'All by status',
  noneCreated: (months: number) => `No subscription was created in the last ${months} months.`,
  noneEnding: (days: number) => `No subscription ends in the next ${days} days.`,
  noNextEnds: (days: number) => `No subscription ends without renewal in the next ${days} days.`,
  allNextEnds: (count: number, days: number) =>
    count === 1 ? `The one in ${days} days` : `All ${formatCount(count)} in ${days} days`,
  nameOfEnd: (product: string, iccid: string) => `${product}, ICCID ${iccid}`,
} as const;
