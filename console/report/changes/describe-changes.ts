import { strings } from '../strings.ts';
import type { RecentChanges } from './read-changes.ts';
import { formatVisit } from './visit-time.ts';

const text = strings.changes;

/** Says in words what is known of the changes since the last visit. */
export function describeChanges({ since, isLost, changes, hasMore }: RecentChanges): {
  readonly title: string;
  readonly hint?: string;
} {
  if (since === undefined) return { title: text.firstVisit, hint: text.firstVisitHint };
  const time = formatVisit(since);
  if (isLost) return { title: text.lost(time), hint: text.lostHint };
  if (changes.length === 0) return { title: text.none(time) };
  const title = text.count(changes.length, hasMore, time);
  return hasMore ? { title, hint: text.more(changes.length) } : { title };
}
