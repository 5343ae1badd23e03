import type { ReplaceCounts, Row } from './store.ts';
import type { SubscriptionRow } from './subscription-row.ts';

// What the changes of one commit did to their records, as text beside the commit. A summary of
// changes adds these groups up instead of reading each record
// (docs/decisions/changes.md#changes-summary).

/** What happened to a record. */
export const changeKinds = ['added', 'changed', 'removed'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** The fields of a record that a summary of changes compares. */
export type ComparedRow = Pick<SubscriptionRow, 'status' | 'autoRenew' | 'productId' | 'expirationDate'>;

/** A record before and after a change: without `before` it was added, without `after` removed. */
interface ComparedChange {
  readonly before?: ComparedRow | undefined;
  readonly after?: ComparedRow | undefined;
}

/** The effect of a change on a record, without what stayed the same. */
export interface ChangeEffect {
  readonly kind: ChangeKind;
  readonly status?: readonly [from: string | null, to: string | null];
  readonly product?: readonly [from: string, to: string];
  readonly autoRenew?: readonly [from: string, to: string];
  /** Whether the expiration date became later. */
  readonly renewed?: true;
}

/** How many changes had the same effect, by the JSON of the effect. */
export type ChangeGroups = Map<string, number>;

/** Adds `n` changes with the same effect to groups; a negative `n` takes them away. */
export function addToGroups(groups: ChangeGroups, { before, after }: ComparedChange, n = 1): void {
  const key = before === undefined ? added : after === undefined ? removed : JSON.stringify(effectOf(before, after));
  groups.set(key, (groups.get(key) ?? 0) + n);
}

const added = JSON.stringify({ kind: 'added' } satisfies ChangeEffect);
const removed = JSON.stringify({ kind: 'removed' } satisfies ChangeEffect);

const effectOf = (before: ComparedRow, after: ComparedRow): ChangeEffect => ({
  kind: 'changed',
  ...(before.status !== after.status && { status: [before.status, after.status] }),
  ...(before.productId !== after.productId && { product: [before.productId, after.productId] }),
  ...(before.autoRenew !== after.autoRenew && { autoRenew: [before.autoRenew, after.autoRenew] }),
  ...(before.expirationDate < after.expirationDate && { renewed: true }),
});

/** Groups the changes of one commit. */
export function groupChanges(changes: readonly ComparedChange[]): ChangeGroups {
  const groups: ChangeGroups = new Map();
  for (const change of changes) addToGroups(groups, change);
  return groups;
}

/**
 * SQL of the changes of a replacement by their effects, of the tables of its rows before (`c`) and
 * after it (`t`), as `groupReplaced` reads them.
 */
export const selectReplaced = (tables: string): string => `select c.status, c.auto_renew,
    case when c.product_id <> t.product_id then c.product_id end as product_id, 0 as expiration_date,
    t.status as new_status, t.auto_renew as new_auto_renew,
    case when c.product_id <> t.product_id then t.product_id end as new_product_id,
    case when c.expiration_date < t.expiration_date then 1 else 0 end as new_expiration_date, count(*) as n
  from ${tables} where not c.is_new group by 1, 2, 3, 5, 6, 7, 8`;

/** Groups the changes of a replacement; `rows` come from `selectReplaced`. */
export function groupReplaced(counts: Pick<ReplaceCounts, 'inserted' | 'removed'>, rows: readonly Row[]): ChangeGroups {
  const groups: ChangeGroups = new Map();
  for (const row of rows)
    addToGroups(groups, { before: toComparedRow(row), after: toComparedRow(row, 'new_') }, Number(row.n));
  return groups.set(added, counts.inserted).set(removed, counts.removed);
}

/** The compared columns of a row, whose names may have a prefix. */
export function toComparedRow(row: Row, prefix = ''): ComparedRow {
  const { [`${prefix}status`]: status = null } = row;
  return {
    status: status === null ? null : String(status),
    autoRenew: String(row[`${prefix}auto_renew`]),
    productId: String(row[`${prefix}product_id`]),
    expirationDate: Number(row[`${prefix}expiration_date`]),
  };
}

/**
 * Longest text beside a commit, some 15 groups: a tenant's budget charges each commit the same.
 * More groups are not kept.
 */
const textMax = 1_000;

/** The text of groups; `undefined` if it is too long to be kept. */
export function writeGroups(groups: ChangeGroups): string | undefined {
  const text = `[${[...groups]
    .filter(([, n]) => n !== 0)
    .map(([effect, n]) => `[${n},${effect}]`)
    .join(',')}]`;
  return text.length > textMax ? undefined : text;
}

/** Reads what `writeGroups` wrote. */
export function readGroups(text: string): ChangeGroups {
  const groups = JSON.parse(text) as readonly (readonly [n: number, effect: ChangeEffect])[];
  return new Map(groups.map(([n, effect]) => [JSON.stringify(effect), n]));
}
