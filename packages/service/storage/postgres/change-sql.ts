import { countedOf } from '../counts/counted-row.ts';
import { assignColumns, columnNames, rowColumns, type SubscriptionRow, versionColumns } from '../subscription-row.ts';
import { selectRevision } from '../tables/revision.ts';
import { dataBytes } from '../tables/storage-use.ts';
import { changeChannel } from './notifications.ts';

// The statements that change a tenant's subscriptions in bulk on PostgreSQL; the others are in
// commit/statements.ts.

/** Serializes the changes of one tenant, so that its revision and its rows agree. */
export const lockTenant = `${selectRevision} for update`;

/**
 * Each statement must see the last committed change of the tenant, whatever the database's default
 * isolation level is.
 */
export const begin = 'begin isolation level read committed';

/** The rows whose `columnArrays` are bound from `$first` on. */
export const unnestColumns = (first: number): string =>
  `unnest(${rowColumns.map(({ name, type }, index) => (name === 'record' ? `string_to_array($${first + index}::text, chr(31))` : `$${first + index}::${type}[]`)).join(', ')})`;

/**
 * The stored rows with the ids `$first`. They are selected by a range in primary-key order: every
 * index ends with the id, and while a table has no statistics the planner could otherwise scan all
 * of another index.
 */
const storedRows = (first: number): string => `unnest($${first}::text[]) as k (id)
  cross join lateral (
    select * from subscription where tenant_id = $1 and id >= k.id and id <= k.id order by tenant_id, id limit 1
  ) as s`;

/** Returns the stored rows with the ids `$2`, as they are before they change. */
export const selectRows = `select s.id, ${countedOf('s')}, ${dataBytes('s')} as bytes from ${storedRows(2)}`;

/**
 * Adds the stored rows with the ids `$3` to the history, as current until the revision `$2`. Rows
 * of lost revisions are not added, and the versions that these have left stay.
 */
export const keepRows = `insert into subscription_version (${versionColumns})
  select s.tenant_id, $2::bigint, s.revision, ${columnNames('s')} from ${storedRows(3)}
  where s.revision < $2 on conflict (tenant_id, id, until_revision) do nothing`;

/**
 * Inserts rows that are not stored; a stored id is an error. Costs two thirds of an upsert. Most
 * indexes contain the date, so rows in its order change fewer of their pages. The tenant is read
 * from its table, because Citus sends rows without a distributed table by COPY, which commits in
 * two phases: after a lost connection, an acknowledged change could not be read yet.
 */
export const insertRows = `insert into subscription (tenant_id, revision, ${columnNames()})
  select t.id, $2::bigint, ${columnNames('r')}
  from tenant as t cross join ${unnestColumns(3)} as r (${columnNames()}) where t.id = $1
  order by r.created_date, r.id`;

export const upsertRows = `${insertRows}
  on conflict (tenant_id, id) do update set ${assignColumns}, revision = excluded.revision`;

/** The numbers of the rows that are stored as they are, from 1, separated by commas. */
export const findSame = `select string_agg(k.n::text, ',') as numbers
  from unnest($2::text[], string_to_array($3::text, chr(31)), $4::text[]) with ordinality as k (id, record, email, n)
  cross join lateral (
    select record, email from subscription where tenant_id = $1 and id >= k.id and id <= k.id order by tenant_id, id limit 1
  ) as s
  where s.record = k.record and s.email is not distinct from k.email`;

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
export const columnArrays = (rows: readonly SubscriptionRow[]): unknown[] =>
  rowColumns.map(({ name, read }) => (name === 'record' ? joinedRecords(rows) : rows.map(read)));

/** The values of rows that `findSame` compares. */
export const comparedArrays = (rows: readonly SubscriptionRow[]): unknown[] => [
  rows.map(({ id }) => id),
  joinedRecords(rows),
  rows.map(({ email }) => email),
];
