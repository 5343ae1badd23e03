import type { ChangeRequest, ChangeWork } from '../commit/change-request.ts';
import { setKeptRevision, setRevision } from '../commit/statements.ts';
import type { SeriesKey } from '../counts/counted-row.ts';
import { type Span, spanLevel } from '../counts/span.ts';
import { compareOrderKeys, type OrderKey } from '../order-key.ts';
import type { Row, TenantId } from '../store.ts';
import { lockTenant } from './change-sql.ts';
import { compareStaged, joinSettings } from './compare-staged.ts';
import type { ReadyChange } from './settle-commit.ts';
import type { RunStatement } from './statements.ts';
import { storeRows } from './store-rows.ts';

/** Where a change runs: in the transaction of a connection, with the tenant's rows visible. */
interface ChangeTarget {
  readonly run: RunStatement;
  readonly tenant: TenantId;
}

/** Runs a change on PostgreSQL; the requests of one step share a round trip. */
export async function runOnPostgres<T>(target: ChangeTarget, work: ChangeWork<T>): Promise<ReadyChange<T>> {
  let row: Row | undefined;
  const send = async (request: ChangeRequest): Promise<readonly Row[]> => {
    const rows = await runRequest(target, request);
    if (request.kind === 'run' && (request.sql === setRevision || request.sql === setKeptRevision)) [row] = rows;
    return rows;
  };
  let step = work.next();
  while (step.done !== true) step = work.next(await Promise.all(step.value.map(send)));
  return { result: step.value, row };
}

async function runRequest(target: ChangeTarget, request: ChangeRequest): Promise<readonly Row[]> {
  const { run, tenant } = target;
  switch (request.kind) {
    case 'lock':
      return run(lockTenant, [tenant]);
    case 'run':
      return run(request.sql, [tenant, ...request.values]);
    case 'store':
      return storeRows(run, tenant, request);
    case 'compare':
      return compareStaged(run, tenant, request.keepsOthers);
    case 'staged':
      return run(request.sql, []);
    case 'join':
      await Promise.all(joinSettings[request.joins].map((setting) => run(`set local ${setting}`, [])));
      return [];
    case 'locate':
      return locateSpans(run, tenant, request.keys);
    case 'write': {
      const { put, remove } = request;
      await Promise.all([
        ...(remove.length > 0 ? [run(removeSpans, [tenant, ...placeArrays(remove)])] : []),
        ...(put.length > 0 ? [run(putSpans, [tenant, ...placeArrays(put), ...countArrays(put)])] : []),
      ]);
      return [];
    }
  }
}

/**
 * Reads a range of spans for each series, from its first key to its last, but at most one span per
 * two keys; the spans of keys beyond that range are looked up one by one. A sorted load finds its
 * spans in the range, an unsorted one by lookups, and neither reads all spans of a large tenant.
 */
async function locateSpans(run: RunStatement, tenant: TenantId, keys: readonly SeriesKey[]): Promise<readonly Row[]> {
  const ranges = [...Map.groupBy(keys, ({ series }) => series).values()];
  const firsts = ranges.flatMap((places) => places.slice(0, 1));
  const lasts = ranges.flatMap((places) => places.slice(-1));
  const limits = ranges.map((places) => Math.ceil(places.length / 2) + 1);
  const rows = await run(selectSpansBetween, [tenant, ...keyArrays(firsts), ...keyArrays(lasts).slice(1), limits]);
  const reached = Map.groupBy(rows, ({ series, level }) => `${level} ${series}`);
  const missing = ranges.flatMap((places, index) =>
    [spanLevel.leaf, spanLevel.group].flatMap((level) => {
      const spans = reached.get(`${level} ${places[0]?.series}`) ?? [];
      const last = spans.length === limits[index] ? spans.at(-1) : undefined;
      if (last === undefined) return [];
      const edge = keyOf(last);
      return places.filter(({ orderKey }) => compareOrderKeys(edge, orderKey) <= 0).map((key) => ({ key, level }));
    }),
  );
  if (missing.length === 0) return rows;
  const levels = missing.map(({ level }) => level);
  const found = await run(selectSpansAt, [tenant, ...keyArrays(missing.map(({ key }) => key)), levels]);
  const all = [...rows, ...found];
  return [...new Map(all.map((row) => [`${row.level} ${row.from_date} ${row.from_id} ${row.series}`, row])).values()];
}

const keyOf = ({ from_date, from_id }: Row): OrderKey => ({ date: Number(from_date), id: String(from_id) });

const keyArrays = (keys: readonly SeriesKey[]): unknown[] => [
  keys.map(({ series }) => series),
  keys.map(({ orderKey }) => orderKey.date),
  keys.map(({ orderKey }) => orderKey.id),
];

const placeArrays = (spans: readonly Span[]): unknown[] => [
  spans.map(({ series }) => series),
  spans.map(({ level }) => level),
  spans.map(({ from }) => from.date),
  spans.map(({ from }) => from.id),
];

const countArrays = (spans: readonly Span[]): unknown[] => [
  spans.map(({ n }) => n),
  spans.map(({ counts }) => JSON.stringify(counts)),
];

/** The spans of each series between two keys, on each level, up to a limit. */
const selectSpansBetween = `select s.series, s.level, s.from_date, s.from_id, s.n, cast(s.counts as text) as counts
  from unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::bigint[])
    as k (series, first_date, first_id, last_date, last_id, most)
  cross join (values (0), (1), (2)) as l (level)
  cross join lateral (
    select * from subscription_span
    where tenant_id = $1 and series = k.series and level = l.level
      and (from_date, from_id) >= (
        select from_date, from_id from subscription_span
        where tenant_id = $1 and series = k.series and level = l.level and (from_date, from_id) <= (k.first_date, k.first_id)
        order by from_date desc, from_id desc limit 1
      )
      and (from_date, from_id) <= (k.last_date, k.last_id)
    order by from_date, from_id limit k.most
  ) as s
  order by s.series, s.level, s.from_date, s.from_id`;

const selectSpansAt = `select distinct s.series, s.level, s.from_date, s.from_id, s.n, cast(s.counts as text) as counts
  from unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[]) as k (series, date, id, level)
  cross join lateral (
    select * from subscription_span
    where tenant_id = $1 and series = k.series and level = k.level and (from_date, from_id) <= (k.date, k.id)
    order by from_date desc, from_id desc limit 1
  ) as s`;

const removeSpans = `delete from subscription_span as s
  using unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[]) as k (series, level, from_date, from_id)
  where s.tenant_id = $1 and s.series = k.series and s.level = k.level and s.from_date = k.from_date and s.from_id = k.from_id`;

const putSpans = `insert into subscription_span (tenant_id, series, level, from_date, from_id, n, counts)
  select t.id, series, level, from_date, from_id, n, cast(counts as jsonb)
  from tenant as t cross join unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[])
    as s (series, level, from_date, from_id, n, counts) where t.id = $1
  on conflict (tenant_id, series, level, from_date, from_id) do update set n = excluded.n, counts = excluded.counts`;
