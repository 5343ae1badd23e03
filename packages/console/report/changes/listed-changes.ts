import type { DescribedChange, Subscription } from '../../../client/index.ts';
import { isRemoved } from '../../../client/records.ts';

/** The versions of a change's record that are known: what it is, and what it was. */
export function versionsOf(change: DescribedChange): readonly Subscription[] {
  return [isRemoved(change) ? undefined : recordOf(change), change.before].filter((version) => version !== undefined);
}

/** A record without what a change has beside it. */
function recordOf(change: Subscription & Partial<DescribedChange>): Subscription {
  const { kind: _kind, committed_at: _at, import_id: _import, before: _before, ...record } = change;
  return record;
}

/** The changes of one import, or of one time without an import. */
export interface ChangeGroup {
  readonly importId: string | undefined;
  /** When the first and the last of them were committed, if that is known. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly changes: readonly DescribedChange[];
}

/** Groups changes by their imports, in the order in which these appear. */
export function groupByImport(changes: readonly DescribedChange[]): ChangeGroup[] {
  const groups = Map.groupBy(changes, ({ import_id: id, committed_at: at }) => id ?? `at ${at}`);
  return [...groups.values()].map((members) => {
    const times = members.flatMap(({ committed_at: at }) => at ?? []).toSorted();
    return { importId: members[0]?.import_id, from: times[0], to: times.at(-1), changes: members };
  });
}
