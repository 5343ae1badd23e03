import { countedColumns } from '../counts/span.ts';
import type { SqlValue } from '../store.ts';
import { assignRowColumns, rowColumns, type SubscriptionRow, selectRevision } from '../subscription-row.ts';
import { changeChannel } from './listener.ts';

// The statements that change a tenant's subscriptions on PostgreSQL.

/** Changes of one tenant are made one after another, so that its revision and its rows agree. */
export const lockTenant = `${selectRevision} for update`;

/**
 * Each statement must see what the tenant's last change committed, whatever the database's default
 * is.
 */
export const begin = 'begin isolation level read committed';

/**
 * Returns the rows as they were before (`old` reads the state before the statement, and is read
 * first) and the ids of those that it inserted or updated. They are put together by the client, as
 * a join of them would be planned for few rows and made of many. An old row is asked for as a range
 * in the order of the primary key: every index ends in the id, and while a table has no statistics
 * one made for other statements would be read whole instead.
 */
export const upsertRows = `with old as materialized (
    select s.id, s.created_date, s.product_id, s.status
    from unnest($3::text[]) as k (id)
    cross join lateral (
      select * from subscription where tenant_id = $1 and id >= k.id and id <= k.id order by tenant_id, id limit 1
    ) as s
  ), changed as (
    insert into subscription as s (tenant_id, revision, ${rowColumns})
    select $1, $2::bigint, ${rowColumns}
    from unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[],
        string_to_array($11::text, chr(31)), $12::text[], $13::text[], $14::text[])
      as r (${rowColumns})
    order by id
    on conflict (tenant_id, id) do update set ${assignRowColumns}, revision = excluded.revision
    where s.record <> excluded.record or s.email is distinct from excluded.email
    returning id
  )
  select 'old' as kind, id, created_date, product_id, status from old
  union all
  select 'changed', id, null, null, null from changed`;

export const deleteRows = `with removed as (
    delete from subscription where tenant_id = $1 and id = any($3::text[]) returning ${countedColumns}
  ), buried as (
    insert into subscription_tombstone (tenant_id, id, revision) select $1, id, $2::bigint from removed
    on conflict (tenant_id, id) do update set revision = excluded.revision
  )
  select ${countedColumns} from removed`;

export const removeTombstones = `delete from subscription_tombstone as t using unnest($2::text[]) as k (id)
  where t.tenant_id = $1 and t.id = k.id`;

/**
 * Told to listeners when the transaction commits; the same text many times in one transaction is
 * told once.
 */
export const announceChange = `select pg_notify('${changeChannel}', '')`;

/**
 * The columns of rows, each as an array but for the records, in the order in which `upsertRows`
 * reads them.
 */
export function columnArrays(rows: readonly SubscriptionRow[]): unknown[] {
  const column = (read: (row: SubscriptionRow) => SqlValue): SqlValue[] => rows.map(read);
  // the driver would escape each
  const numbers = (read: (row: SubscriptionRow) => number): string => `{${rows.map(read).join(',')}}`;
  return [
    column((row) => row.id),
    numbers((row) => row.createdDate),
    numbers((row) => row.activationDate),
    numbers((row) => row.expirationDate),
    column((row) => row.status),
    column((row) => row.productId),
    column((row) => row.iccid),
    column((row) => row.email),
    // as one text, since an array would escape its many quotes; no JSON text holds this character
    // (RFC 8259 §7)
    rows.map((row) => row.record).join('\u001f'),
    column((row) => row.planId),
    column((row) => row.deviceId),
    column((row) => row.autoRenew),
  ];
}
