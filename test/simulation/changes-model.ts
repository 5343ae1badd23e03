import type { ChangedField } from '../../packages/contract/change.ts';
import type { ChangeKind } from '../../packages/contract/history.ts';
import type { ModelRecord, Query, State, Version } from './model.ts';

// What the changes between two states must be, and their counts (docs/readers/changes.md). No two
// versions of a record are equal, and none returns, so exactly the records that differ have
// changed.

/** A record that was added, changed or removed between two states. */
export interface ModelChange {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly former: Version | undefined;
  readonly latter: Version | undefined;
}

/** The changes between two states, in no order. */
export function changesBetween(then: State, now: State): ModelChange[] {
  return [...new Set([...then.keys(), ...now.keys()])]
    .map((id) => changeOf(id, then.get(id), now.get(id)))
    .filter(({ former, latter }) => former?.text !== latter?.text);
}

/** The change of a record; one without any version is the removal of an unknown one. */
export function changeOf(id: string, former: Version | undefined, latter: Version | undefined): ModelChange {
  const kind = latter === undefined ? 'removed' : former === undefined ? 'added' : 'changed';
  return { id, kind, former, latter };
}

const valueIn = {
  status: ({ status }) => status ?? null,
  'product-id': ({ product }) => product.id,
  'auto-renew': ({ auto_renew: renews }) => renews,
} as const satisfies Partial<Record<ChangedField, (record: ModelRecord) => string | null>>;

type ValueField = keyof typeof valueIn;

const isRenewal = ({ former, latter }: ModelChange): boolean =>
  former !== undefined && latter !== undefined && former.times.expirationDate < latter.times.expirationDate;

/** What a field was and is, if it has changed. */
function transitionOf(field: ValueField, { former, latter }: ModelChange): readonly [Value, Value] | undefined {
  if (former === undefined || latter === undefined) return undefined;
  const [from, to] = [valueIn[field](former.record), valueIn[field](latter.record)];
  return from === to ? undefined : [from, to];
}
type Value = string | null;

/** Whether `kind`, `field`, `from` and `to` of a query select a change. */
export function isSelected(query: Query, change: ModelChange): boolean {
  const { kind, field, from, to } = query;
  if (kind !== undefined && !kind.split(',').includes(change.kind)) return false;
  if (field === undefined) return true;
  if (field === 'renewal') return isRenewal(change);
  const transition = transitionOf(field as ValueField, change);
  const wanted = (value: string): Value => (field === 'status' && value === 'none' ? null : value);
  return (
    transition !== undefined &&
    (from === undefined || transition[0] === wanted(from)) &&
    (to === undefined || transition[1] === wanted(to))
  );
}

/** Number of changes by kind, and renewals among them. */
export function kindsOf(changes: readonly ModelChange[]) {
  const numberOf = (wanted: ChangeKind): number => changes.filter(({ kind }) => kind === wanted).length;
  return { added: numberOf('added'), changed: numberOf('changed'), removed: numberOf('removed') };
}

export const renewedOf = (changes: readonly ModelChange[]): number => changes.filter(isRenewal).length;

/** Number of changes by what a field was and is, written as JSON. */
export function transitionsOf(field: ValueField, changes: readonly ModelChange[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const change of changes) {
    const transition = transitionOf(field, change);
    if (transition === undefined) continue;
    const key = JSON.stringify(transition);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/**
 * Whether the parameters of the changes are valid one by one but not together, so that the request
 * is rejected.
 */
export function isContradictoryOfChanges({ kind = 'changed', field, from, to }: Query): boolean {
  const hasValue = from !== undefined || to !== undefined;
  return (hasValue && (field === undefined || field === 'renewal')) || (field !== undefined && kind !== 'changed');
}
