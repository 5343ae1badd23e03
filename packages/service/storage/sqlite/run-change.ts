import type { ChangeRequest, ChangeWork, StoreRequest } from '../commit/change-request.ts';
import { compareSeriesKeys } from '../counts/count-work.ts';
import type { SeriesKey } from '../counts/counted-row.ts';
import { spanColumns, spanLevel } from '../counts/span.ts';
import { endOrderKey } from '../order-key.ts';
import type { Row, TenantId } from '../store.ts';
import {
  columnNames,
  rowColumns,
  rowValues,
  type SubscriptionRow,
  valuePlaceholders,
  versionColumns,
} from '../subscription-row.ts';
import { selectRevision } from '../tables/revision.ts';
import { dataBytesOf } from '../tables/storage-use.ts';
import type { SqliteConnection } from './connection.ts';

/** Where a change runs: inside the transaction of a connection. */
interface ChangeTarget {
  readonly connection: SqliteConnection;
  readonly tenant: TenantId;
  /** Compares what is staged with the rows of the tenant at its revision. */
  readonly compare?: (revision: number) => Row;
}

/** Runs a change on the embedded store. */
export function runOnSqlite<T>(target: ChangeTarget, work: ChangeWork<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next(step.value.map((request) => runRequest(target, request)));
  return step.value;
}

function runRequest({ connection, tenant, compare }: ChangeTarget, request: ChangeRequest): readonly Row[] {
  switch (request.kind) {
    case 'lock': // the transaction has the lock of the file
      return connection.all(selectRevision, [tenant]);
    case 'run':
      return connection.all(request.sql, [
        tenant,
        // as `numbered` reads lists
        ...request.values.map((value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value)),
      ]);
    case 'store':
      return storeRows(connection, tenant, request);
    case 'compare':
      return compare === undefined ? [] : [compare(request.revision)];
    case 'staged':
      return connection.all(request.sql, []);
    case 'locate':
      return locateSpans(connection, tenant, request.keys);
    case 'write':
      for (const { series, level, from } of request.remove)
        connection.change(removeSpan, [tenant, series, level, from.date, from.id]);
      for (const { series, level, from, n, counts } of request.put)
        connection.change(putSpan, [tenant, series, level, from.date, from.id, n, JSON.stringify(counts)]);
      return [];
    case 'join':
      return [];
  }
}

/**
 * Inserts or updates rows, in the order of most indexes. A statement for many rows would write each
 * index of an updated row; by row, only those of the columns that differ.
 */
function storeRows(connection: SqliteConnection, tenant: TenantId, request: StoreRequest): readonly Row[] {
  const { rows, revision, expectsNew } = request;
  const numbered = rows.map((row, number) => ({ row, number }));
  return numbered
    .toSorted((a, b) => compareRows(a.row, b.row))
    .flatMap(({ row, number }) => {
      const isSame = !expectsNew && connection.first(selectSame, [tenant, row.id, row.record, row.email]) !== undefined;
      if (isSame) return [];
      if (connection.change(insertIfNew, [tenant, revision, ...rowValues(row)]) === 1) return [{ number }];
      const stored = updateRow(connection, tenant, request, row);
      return stored === undefined ? [] : [{ ...stored, number, bytes: storedBytes(stored) }];
    });
}

const compareRows = (a: SubscriptionRow, b: SubscriptionRow): number =>
  a.createdDate - b.createdDate || (a.id < b.id ? -1 : 1);

const storedBytes = ({ record, email = null }: Row): number =>
  dataBytesOf({ record: String(record), email: email === null ? null : String(email) });

/**
 * Assigns only the columns that differ; returns the row as it was, if there are any. The history
 * keeps it, unless it is of a lost revision, or one has left a version that ended then.
 */
function updateRow(
  connection: SqliteConnection,
  tenant: TenantId,
  { revision, keepsHistory }: StoreRequest,
  row: SubscriptionRow,
): Row | undefined {
  const stored = connection.first(selectRow, [tenant, row.id]) ?? {};
  const differing = rowColumns.filter(({ name, read }) => stored[name] !== read(row));
  if (differing.length === 0) return undefined;
  const from = Number(stored.revision);
  if (keepsHistory && from < revision)
    connection.change(insertVersion, [tenant, revision, from, ...rowColumns.map(({ name }) => stored[name] ?? null)]);
  const assigned = differing.map(({ name }, index) => `${name} = $${index + 4}`);
  connection.change(
    `update subscription set ${['revision = $3', ...assigned].join(', ')} where tenant_id = $1 and id = $2`,
    [tenant, row.id, revision, ...differing.map(({ read }) => read(row))],
  );
  return stored;
}

const insertIfNew = `insert into subscription (tenant_id, revision, ${columnNames()})
  values ($1, $2, ${valuePlaceholders(3)}) on conflict do nothing`;

const selectSame =
  'select 1 as same from subscription where tenant_id = $1 and id = $2 and record = $3 and email is $4';

const selectRow = `select ${columnNames()}, revision from subscription where tenant_id = $1 and id = $2`;

const insertVersion = `insert into subscription_version (${versionColumns})
  values ($1, $2, $3, ${valuePlaceholders(4)}) on conflict do nothing`;

/**
 * Looks up a span for the first key in it and skips the other keys in the same span; keys are
 * sorted.
 */
function locateSpans(connection: SqliteConnection, tenant: TenantId, keys: readonly SeriesKey[]): readonly Row[] {
  const found: Row[] = [];
  for (const level of Object.values(spanLevel)) {
    let reached: SeriesKey | undefined; // keys before this one are in the span that was found last
    for (const place of keys) {
      if (reached !== undefined && compareSeriesKeys(place, reached) < 0) continue;
      const { series, orderKey } = place;
      found.push(...connection.all(selectSpanAt, [tenant, series, level, orderKey.date, orderKey.id]));
      const [next] = connection.all(selectSpanAfter, [tenant, series, level, orderKey.date, orderKey.id]);
      reached = {
        series,
        orderKey: next === undefined ? endOrderKey : { date: Number(next.from_date), id: String(next.from_id) },
      };
    }
  }
  return found;
}

const selectSpanAt = `select ${spanColumns} from subscription_span where tenant_id = $1 and series = $2 and level = $3
  and (from_date, from_id) <= ($4, $5) order by from_date desc, from_id desc limit 1`;

const selectSpanAfter = `select from_date, from_id from subscription_span where tenant_id = $1 and series = $2 and level = $3
  and (from_date, from_id) > ($4, $5) order by from_date, from_id limit 1`;

const removeSpan =
  'delete from subscription_span where tenant_id = $1 and series = $2 and level = $3 and from_date = $4 and from_id = $5';

const putSpan = `insert into subscription_span (tenant_id, series, level, from_date, from_id, n, counts)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (tenant_id, series, level, from_date, from_id) do update set n = excluded.n, counts = excluded.counts`;
