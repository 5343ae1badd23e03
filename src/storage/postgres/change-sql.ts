import { countedColumns, countedNames, countedOf } from '../counts/span.ts';
import { StorageError } from '../error.ts';
import type { Row } from '../store.ts';
import { assignColumns, columnNames, rowColumns, type SubscriptionRow, versionColumns } from '../subscription-row.ts';
import { selectRevision } from '../tables/revision.ts';
import { changeChannel } from './listener.ts';

// The statements that change a tenant's subscriptions on PostgreSQL.

/** Serializes the changes of one tenant, so that its revision and its rows agree. */
export const lockTenant = `${selectRevision} for update`;

/** The last revision of a tenant, and the one after it. */
interface LastRevision {
  readonly row: Row;
  readonly next: number;
}

/**
 * The last revision of a tenant that `lockTenant` locked. Throws `StorageError` `UNUSABLE` without
 * such a tenant: no foreign key requires it.
 */
export function lastRevision([locked]: readonly Row[]): LastRevision {
  if (locked === undefined)
    throw new StorageError('UNUSABLE', 'Cannot change records: their tenant must exist in the table of tenants');
  return { row: locked, next: Number(locked.revision) + 1 };
}

/**
 * Each statement must see the last committed change of the tenant, whatever the database's default
 * isolation level is.
 */
export const begin = 'begin isolation level read committed';

/** The rows whose `columnArrays` are bound from `$first` on. */
export const unnestColumns = (first: number): string =>
  `unnest(${rowColumns.map(({ name, type }, index) => (name === 'record' ? `string_to_array($${first + index}::text, chr(31))` : `$${first + index}::${type}[]`)).join(', ')})`;

// 'on conflict' as in `insertRows`: Citus would use COPY without it
const keptVersions = `, kept as (
    insert into subscription_version (${versionColumns})
    select $1, $2::bigint, revision, ${columnNames()} from old
    on conflict (tenant_id, id, until_revision) do nothing
  )`;

/**
 * Returns the previous version of each row (`old` reads the state before the statement) and the ids
 * of inserted or updated rows. The client combines the two, because the planner would expect few
 * rows in a join of them, while there are many. Old rows are selected by a range in primary-key
 * order: every index ends with the id, and while a table has no statistics the planner could
 * otherwise scan all of another index. Most indexes contain the date, so rows in its order change
 * fewer of their pages. The old versions of rows become part of the history if it is kept.
 */
const upsertText = (keepsHistory: boolean): string => `with old as materialized (
    select ${keepsHistory ? `s.revision, ${columnNames('s')}` : `s.id, ${countedOf('s')}`}
    from unnest($3::text[]) as k (id)
    cross join lateral (
      select * from subscription where tenant_id = $1 and id >= k.id and id <= k.id order by tenant_id, id limit 1
    ) as s
  )${keepsHistory ? keptVersions : ''}, changed as (
    insert into subscription as s (tenant_id, revision, ${columnNames()})
    select $1, $2::bigint, ${columnNames()}
    from ${unnestColumns(3)} as r (${columnNames()})
    order by created_date, id
    on conflict (tenant_id, id) do update set ${assignColumns}, revision = excluded.revision
    where s.record <> excluded.record or s.email is distinct from excluded.email
    returning id
  )
  select 'old' as kind, ${countedColumns} from old
  union all
  select 'changed', id, ${countedNames.map(() => 'null').join(', ')} from changed`;

export const upsertRows = upsertText(false);

export const upsertAndKeepRows = upsertText(true);

/** The numbers of the rows that are stored as they are, from 1, separated by commas. */
export const findSame = `select string_agg(k.n::text, ',') as numbers
  from unnest($2::text[], string_to_array($3::text, chr(31)), $4::text[]) with ordinality as k (id, record, email, n)
  cross join lateral (
    select record, email from subscription where tenant_id = $1 and id >= k.id and id <= k.id order by tenant_id, id limit 1
  ) as s
  where s.record = k.record and s.email is not distinct from k.email`;

/** Inserts rows that are not stored; a stored id is an error. Costs two thirds of an upsert. */
export const insertRows = `insert into subscription (tenant_id, revision, ${columnNames()})
  select $1, $2::bigint, ${columnNames()}
  from ${unnestColumns(3)} as r (${columnNames()})
  order by created_date, id`;

export const deleteRows = `with removed as (
    delete from subscription where tenant_id = $1 and id = any($3::text[]) returning ${countedColumns}, revision as from_revision
  ), buried as (
    insert into subscription_tombstone (tenant_id, id, revision) select $1, id, $2::bigint from removed
    on conflict (tenant_id, id) do update set revision = excluded.revision
  )
  select ${countedColumns}, from_revision from removed`;

/** Removes rows, which the history keeps if there is one; `old` reads the state before. */
const removeText = (keepsHistory: boolean): string => `with old as materialized (
    select revision, ${columnNames()} from subscription where tenant_id = $1 and id = any($3::text[])
  )${keepsHistory ? keptVersions : ''}, removed as (
    delete from subscription where tenant_id = $1 and id = any($3::text[]) returning ${countedColumns}
  ), buried as (
    insert into subscription_tombstone (tenant_id, id, revision) select $1, id, $2::bigint from removed
    on conflict (tenant_id, id) do update set revision = excluded.revision
  )
  select ${countedColumns} from removed`;

export const removeRows = removeText(false);

export const removeAndKeepRows = removeText(true);

export const eraseVersions = `delete from subscription_version where tenant_id = $1 and id = any($2::text[])
  returning from_revision, until_revision`;

export const addErasures = `insert into subscription_erasure as e (tenant_id, from_revision, until_revision, n)
  select $1, from_revision, until_revision, n
  from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as r (from_revision, until_revision, n)
  on conflict (tenant_id, from_revision, until_revision) do update set n = e.n + excluded.n`;

export const removeTombstones = `delete from subscription_tombstone as t using unnest($2::text[]) as k (id)
  where t.tenant_id = $1 and t.id = k.id`;

/**
 * Notifies listeners when the transaction commits; PostgreSQL sends duplicates within a transaction
 * once.
 */
export const announceChange = `select pg_notify('${changeChannel}', '')`;

/**
 * As one string, because an array would escape the many quotes; JSON text never contains this
 * character (RFC 8259 §7).
 */
const joinedRecords = (rows: readonly SubscriptionRow[]): string => rows.map(({ record }) => record).join('\u001f');

/** The columns of rows as arrays, except that the records are one string. */
export const columnArrays = (rows: readonly SubscriptionRow[]): string[] =>
  rowColumns.map(({ name, type, read }) => {
    if (name === 'record') return joinedRecords(rows);
    const values = rows.map(read);
    return type === 'bigint' ? `{${values.join(',')}}` : toArrayLiteral(values as (string | null)[]);
  });

/** The values of rows that `findSame` compares. */
export const comparedArrays = (rows: readonly SubscriptionRow[]): string[] => [
  toArrayLiteral(rows.map(({ id }) => id)),
  joinedRecords(rows),
  toArrayLiteral(rows.map(({ email }) => email)),
];

/** An array of PostgreSQL as text; the driver takes 2 µs a record longer. */
function toArrayLiteral(texts: readonly (string | null)[]): string {
  if (texts.length > 0 && texts.every(isPlain)) return `{"${texts.join('","')}"}`;
  return `{${texts.map((text) => (text === null ? 'NULL' : `"${escaped(text)}"`)).join(',')}}`;
}

const special = /["\\]/;
const isPlain = (text: string | null): boolean => text !== null && !special.test(text);
const escaped = (text: string): string => (special.test(text) ? text.replaceAll(/["\\]/g, String.raw`\$&`) : text);
