import type { Row, TenantReader } from './store.ts';

/** Where a change stands in the order of all changes of a tenant: the revision that made it, then the id of the record. */
export interface ChangeKey {
  readonly revision: number;
  readonly id: string;
}

/** The last change of one record: its finished text, or that it was removed. */
export interface SubscriptionChange extends ChangeKey {
  /** `undefined` when the record was removed. */
  readonly record: string | undefined;
}

/** A tenant's history at the moment that a reader sees. */
export interface TenantHistory {
  /** The newest revision. */
  readonly revision: number;
  /** When the tenant was made, in UTC epoch seconds: tells it from one of the same name in another store. */
  readonly createdAt: number;
}

/** Reads how far a tenant's history has come. */
export async function readHistory(reader: TenantReader): Promise<TenantHistory> {
  const [row] = await reader.all(
    'select revision, created_at from (select id as tenant_id, revision, created_at from tenant) as t where tenant_id = $1',
  );
  return { revision: Number(row?.revision ?? 0), createdAt: Number(row?.created_at ?? 0) };
}

/**
 * Reads up to `limit` changes behind a key, in their order. A record stands where its last change is and nowhere else, so that whoever applies all changes in
 * their order ends with the records that there are. Costs the same behind every key: at most `limit` rows of the records and of the tombstones are read.
 */
export async function readChanges(
  reader: TenantReader,
  { revision, id }: ChangeKey,
  limit: number,
): Promise<readonly SubscriptionChange[]> {
  return (await reader.all(changesBehind, [revision, id, limit])).map(toChange);
}

const changesBehind = `select revision, id, record from (
    select revision, id, record from (
      select revision, id, record from subscription
      where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4
    ) as live
    union all
    select revision, id, null from (
      select revision, id from subscription_tombstone
      where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4
    ) as removed
  ) as changed
  order by revision, id limit $4`;

function toChange({ revision, id, record }: Row): SubscriptionChange {
  return { revision: Number(revision), id: String(id), record: record === null ? undefined : String(record) };
}
