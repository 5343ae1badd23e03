import { strings } from '../strings.ts';
import { daysUntil } from './days.ts';

const text = strings.subscriptions.end;

/** Days ahead within which an end is counted in days. */
const countedDays = 60;

/** An end within 60 days in words, such as `in 3 days`; `undefined` for any other. */
export function describeEnd(expirationDate: string, now: number): string | undefined {
  const days = daysUntil(expirationDate, now);
  if (days < 0 || days > countedDays) return undefined;
  if (days === 0) return Date.parse(expirationDate) > now ? text.today : text.endedToday;
  return days === 1 ? text.tomorrow : text.inDays(days);
}
