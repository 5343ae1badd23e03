import { dateFormatter } from '../../ui/format-date.ts';

/** When a visit ended, in the reader's own time zone, which it names: "20 Nov 2026, 14:02 CET". */
export const formatVisit: (at: number) => string = dateFormatter({
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});
