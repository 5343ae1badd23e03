import type { Row, TenantReader } from '../store.ts';

/**
 * Position in the order of a tenant's changes: the revision of the change, then the record's id.
 */
export interface ChangeKey {
  readonly revision: number;
  readonly id: string;
}

/** The last change of one record. */
export interface SubscriptionChange extends ChangeKey {
  /** Its JSON text, or `undefined` if it was removed. */
  readonly record: string | undefined;
}

/**
 * Reads up to `limit` changes after a key, in order. Each record appears once, at its last change,
 * so a client that applies all changes in order has exactly the existing records. Costs the same
 * after every key: at most `limit` records and `limit` tombstones are read.
 */
export async function readChanges(
  reader: TenantReader,
  { revision, id }: ChangeKey,
  limit: number,
): Promise<readonly SubscriptionChange[]> {
  const [live, removed] = await Promise.all([
    reader.all(recordsAfter, [revision, id, limit]),
    reader.all(tombstonesAfter, [revision, id, limit]),
  ]);
  return [...live, ...removed].map(toChange).sort(compareChangeKeys).slice(0, limit);
}

/**
 * Two statements, merged in the process. With `union all`, PostgreSQL sorts everything after the
 * key; with a limit on each side, SQLite sorts once more: 1.9 ms for 1,000 records instead of 1.0
 * ms.
 */
const recordsAfter =
  'select revision, id, record from subscription where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4';

const tombstonesAfter =
  'select revision, id from subscription_tombstone where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4';

function toChange({ revision, id, record }: Row): SubscriptionChange {
  return { revision: Number(revision), id: String(id), record: record === undefined ? undefined : String(record) };
}

/** Compares as both engines do: ids are ASCII, so UTF-16 and UTF-8 order them alike. */
const compareChangeKeys = (a: ChangeKey, b: ChangeKey): number => a.revision - b.revision || (a.id < b.id ? -1 : 1);
