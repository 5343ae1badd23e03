import type { ChangeKind, DescribedChange, Subscription, SubscriptionChange } from '../../../src/client/index.ts';
import { isRemoved } from '../../../src/client/records.ts';
import { statusFilterOf } from '../../../src/contract/subscription.ts';

/** A change of the list. Its kind and what it was are absent if the service has no history. */
export type ListedChange = SubscriptionChange & Partial<Omit<DescribedChange, keyof SubscriptionChange>>;

/** What of the changes is listed; the names are those of the address. */
export interface ChangeFilters {
  readonly kind?: ChangeKind | undefined;
  readonly status?: string | undefined;
  readonly 'product-id'?: string | undefined;
}

/** The versions of a change's record that are known: what it is, and what it was. */
export const versionsOf = (change: ListedChange): readonly Subscription[] =>
  [isRemoved(change) ? undefined : change, change.before].filter((version) => version !== undefined);

/** The status of a record as a value of the filter. */
export const statusOf = ({ status }: Subscription): string => statusFilterOf(status ?? null);

/** The changes of a kind, as far as it is known, whose record has or had a status and a product. */
export function filterChanges(
  changes: readonly ListedChange[],
  { kind, status, 'product-id': product }: ChangeFilters,
): readonly ListedChange[] {
  return changes.filter((change) => {
    const versions = versionsOf(change);
    return (
      (kind === undefined || (change.kind ?? kind) === kind) &&
      (status === undefined || versions.some((version) => statusOf(version) === status)) &&
      (product === undefined || versions.some((version) => version.product.id === product))
    );
  });
}

export type KindCounts = Readonly<Record<ChangeKind, number>>;

/** How many changes there are of each kind; `undefined` if the kinds are not known. */
export function countKinds(changes: readonly ListedChange[]): KindCounts | undefined {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { kind } of changes) {
    if (kind === undefined) return undefined;
    counts[kind]++;
  }
  return counts;
}

/** How many records have got each status, the most frequent one first. */
export function countNewStatuses(changes: readonly ListedChange[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const change of changes) {
    if (isRemoved(change) || change.before === undefined) continue;
    const status = statusOf(change);
    if (status !== statusOf(change.before)) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

/** The changes of one import, or of one time without an import. */
export interface ChangeGroup {
  readonly importId: string | undefined;
  /** When the first and the last of them were committed, if that is known. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly changes: readonly ListedChange[];
}

/** Groups changes by their imports, in the order in which these appear. */
export function groupByImport(changes: readonly ListedChange[]): ChangeGroup[] {
  const groups = Map.groupBy(changes, ({ import_id: id, committed_at: at }) => id ?? `at ${at}`);
  return [...groups.values()].map((members) => {
    const times = members.flatMap(({ committed_at: at }) => at ?? []).toSorted();
    return { importId: members[0]?.import_id, from: times[0], to: times.at(-1), changes: members };
  });
}
