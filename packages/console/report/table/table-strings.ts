import { countOf, formatCount } from '../../ui/format-count.ts';

/** The texts of the table. */
export const tableStrings = {
  columns: 'Columns',
  table: 'Subscriptions',
  copyIccid: (iccid: string) => `Copy ICCID ${iccid}`,
  recordName: (product: string, iccid: string) => `${product}, ICCID ${iccid}`,
  pageOf: (pages: string) => `of ${pages}`,
  page: 'Page',
  pagesAt: { above: 'Pages of the report', below: 'Pages of the report, below the rows' },
  rows: (count: number) => `${formatCount(count)} rows`,
  previous: 'Previous page',
  next: 'Next page',
  size: 'Rows per page',
  pageRule: (pages: number) => `Enter a whole number from 1 to ${formatCount(pages)}`,
  noMatch: {
    text: 'Remove a filter to see more:',
    without: (filter: string, count: string) => `Without ${filter}: ${count}`,
    counting: 'Counting what each filter excludes',
  },
  noSubscriber: {
    counting: 'Looking for email addresses in all subscriptions',
    withAddress: (count: number, total: number, isAlone: boolean) =>
      count === 0
        ? `No subscription has an email address: they were loaded without any. Ask the operator of this service.`
        : `${formatCount(count)} of ${formatCount(total)} subscriptions have an email address${isAlone ? ', and none has this one' : '; those of this one do not match the other filters, or there are none'}.`,
    changed: (time: string) => `The subscriptions last changed on ${time} UTC.`,
    longUnchanged: 'The subscriptions have not changed within the history that the service keeps.',
  },
  pastEnd: {
    title: (page: string) => `Page ${page} does not exist`,
    text: (pages: string) => `The report has ${pages}.`,
    last: 'Go to the last page',
    pages: (count: number) => countOf(count, 'page', 'pages'),
  },
  keys: { down: 'Next row', up: 'Previous row', open: 'Open the record' },
} as const;
