import { formatCount } from '../../ui/format-count.ts';

/** The texts of reports of the past. */
export const pastStrings = {
  present: 'Now',
  asOf: (time: string) => `As of ${time}`,
  shown: (time: string) => `as of ${time}`,
  label: 'Time of the report',
  choices: {
    today: 'Start of today',
    yesterday: 'Start of yesterday',
    'this-month': 'End of last month',
    'last-month': 'End of the month before',
    'this-quarter': 'End of last quarter',
    'this-year': 'End of last year',
  },
  day: 'At the start of',
  zone: 'Days and months',
  inZone: (zone: string) => `in ${zone}`,
  dayRule: 'Enter a day until today, such as 2026-10-31',
  show: 'Show',
  first: (shown: number, total: number) =>
    `The first ${formatCount(shown)} of ${formatCount(total)}. The past has no pages: Export saves all of them.`,
  beginsLater: (time: string) => `The history of the service begins at ${time}. Choose a later time.`,
} as const;
