import { type CountRequest, type CountWork, compareSeriesKeys } from '../counts/count-work.ts';
import type { SeriesKey } from '../counts/counted-row.ts';
import { spanColumns, spanLevel } from '../counts/span.ts';
import { endOrderKey } from '../order-key.ts';
import type { Row, TenantId } from '../store.ts';
import type { SqliteConnection } from './connection.ts';

/** Runs counting on the embedded store, inside the transaction of its connection. */
export function countOnSqlite<T>(connection: SqliteConnection, tenant: TenantId, work: CountWork<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next(step.value.map((request) => runRequest(connection, tenant, request)));
  return step.value;
}

function runRequest(connection: SqliteConnection, tenant: TenantId, request: CountRequest): readonly Row[] {
  switch (request.kind) {
    case 'locate':
      return locateSpans(connection, tenant, request.keys);
    case 'read':
      return connection.all(request.sql, [tenant, ...request.values]);
    case 'write':
      for (const { series, level, from } of request.remove)
        connection.change(removeSpan, [tenant, series, level, from.date, from.id]);
      for (const { series, level, from, n, counts } of request.put)
        connection.change(putSpan, [tenant, series, level, from.date, from.id, n, JSON.stringify(counts)]);
      return [];
  }
}

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
