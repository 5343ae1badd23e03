import { countOf } from '../../ui/format-count.ts';

/** How long the product of a record lasts: "30 days". */
export function describePeriod(count: number | undefined, unit = ''): string {
  if (count === undefined) return '';
  return (unit === 'DAYS' ? countOf(count, 'day', 'days') : countOf(count, unit, unit)).trimEnd();
}

/** Whether a record renews; any other value than a boolean is shown as it is. */
export const describeRenewal = (value: string): string =>
  ({ true: 'Yes, at the end of its period', false: 'No' })[value] ?? value;
