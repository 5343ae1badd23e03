import type { Subscription, SubscriptionHistory } from '../../../client/index.ts';

/** What happened to a record at one revision. */
export interface VersionStep {
  /** `known`: nothing earlier is kept, so it may have been there before. */
  readonly kind: 'added' | 'changed' | 'removed' | 'erased' | 'known';
  readonly revision: number;
  /** When it was committed; `undefined` if that was before the kept history. */
  readonly at: string | undefined;
  readonly importId: string | undefined;
  /** The record before and after a change. */
  readonly before?: Subscription;
  readonly after?: Subscription;
}

/** What happened to a record from version to version, newest first. */
export function stepsOf({ versions, has_more: hasMore }: SubscriptionHistory): VersionStep[] {
  return versions.map(({ revision, committed_at: at, import_id: importId, record, removed, erased }, index) => {
    const step = { revision, at, importId };
    if (removed) return { ...step, kind: 'removed' };
    if (erased || record === undefined) return { ...step, kind: 'erased' };
    const older = versions[index + 1];
    if (older?.record !== undefined) return { ...step, kind: 'changed', before: older.record, after: record };
    const isFirst = older === undefined && !hasMore && at !== undefined;
    return { ...step, kind: isFirst || older?.removed ? 'added' : 'known' };
  });
}
