import type { Row, TenantReader } from '../store.ts';

/**
 * Where a change stands in the order of all changes of a tenant: the revision that made it, then
 * the id of the record.
 */
export interface ChangeKey {
  readonly revision: number;
  readonly id: string;
}

/** The last change of one record: its finished text, or that it was removed. */
export interface SubscriptionChange extends ChangeKey {
  /** `undefined` when the record was removed. */
  readonly record: string | undefined;
}

/**
 * Reads up to `limit` changes behind a key, in their order. A record stands where its last change
 * is and nowhere else, so that whoever applies all changes in their order ends with the records
 * that there are. Costs the same behind every key: records and tombstones are read by key, `limit`
 * of each at most.
 */
export async function readChanges(
  reader: TenantReader,
  { revision, id }: ChangeKey,
  limit: number,
): Promise<readonly SubscriptionChange[]> {
  const [live, removed] = await Promise.all([
    reader.all(recordsBehind, [revision, id, limit]),
    reader.all(tombstonesBehind, [revision, id, limit]),
  ]);
  return [...live, ...removed].map(toChange).sort(compareKeys).slice(0, limit);
}

/**
 * Two statements, merged here. For a `union all` PostgreSQL sorts all that lies behind the key, and
 * where each part of it is bounded, SQLite sorts once more: 1.9 ms for 1,000 records, 1.0 ms
 * without.
 */
const recordsBehind =
  'select revision, id, record from subscription where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4';

const tombstonesBehind =
  'select revision, id from subscription_tombstone where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4';

function toChange({ revision, id, record }: Row): SubscriptionChange {
  return { revision: Number(revision), id: String(id), record: record === undefined ? undefined : String(record) };
}

/**
 * As both engines compare: an id has no characters whose order in UTF-16 is another one than in
 * UTF-8.
 */
const compareKeys = (a: ChangeKey, b: ChangeKey): number => a.revision - b.revision || (a.id < b.id ? -1 : 1);
