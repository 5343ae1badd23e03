import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../store.ts';

// What the metrics say about the imports of all tenants.

const hour = 3_600;

/** When an import last ended without a rejected row, in UTC epoch seconds, if any has. */
export async function readLastGoodImport(store: Store): Promise<number | undefined> {
  const [row] = await store.readDirectory('select max(good_at) as newest from import_latest');
  return row?.newest == null ? undefined : Number(row.newest);
}

/**
 * The number of tenants by the age of their last import without a rejected row: less than an hour,
 * a day, a week, older, or never. Two passes over the tenants.
 */
export async function countTenantsByImport(
  store: Store,
  nowSeconds: number,
): Promise<Record<'hour' | 'day' | 'week' | 'older' | 'never', number>> {
  const [row] = await store.readDirectory(
    `select count(case when good_at > $1 then 1 end) as hour, count(case when good_at > $2 then 1 end) as day,
       count(case when good_at > $3 then 1 end) as week, count(good_at) as every_age from import_latest`,
    [nowSeconds - hour, nowSeconds - 24 * hour, nowSeconds - 7 * 24 * hour],
  );
  const [all] = await store.readDirectory(
    'select count(*) as n from tenant where deletion_started_at is null and deleted_at is null',
  );
  const [withinHour, withinDay, withinWeek, ever] = [row?.hour, row?.day, row?.week, row?.every_age].map(Number) as [
    ...[number, number, number, number],
  ];
  return {
    hour: withinHour,
    day: withinDay - withinHour,
    week: withinWeek - withinDay,
    older: ever - withinWeek,
    never: Math.max(0, Number(all?.n) - ever),
  };
}

/** Imports that began in a period, by how they were started and how they ended. */
interface ImportTotal {
  readonly via: string;
  readonly result: string;
  readonly imports: number;
  readonly accepted: number;
  readonly rejected: number;
}

/** Imports that one statement counts: some milliseconds, during which SQLite serves no request. */
const countedAtOnce = 10_000;

/** Counts the imports whose id follows `since`, without dry runs, and their rows. */
export async function countImports(
  store: Store,
  since: string,
  atOnce = countedAtOnce,
): Promise<readonly ImportTotal[]> {
  const totals = new Map<string, ImportTotal>();
  for (let after = since; ; await nextTurn()) {
    const rows = await store.readDirectory(countSome, [after, atOnce]);
    for (const { via, result, imports, accepted, rejected } of rows) {
      if (Number(imports) === 0) continue;
      const key = `${via} ${result}`;
      const total = totals.get(key);
      totals.set(key, {
        via: String(via),
        result: String(result),
        imports: Number(imports) + (total?.imports ?? 0),
        accepted: Number(accepted) + (total?.accepted ?? 0),
        rejected: Number(rejected) + (total?.rejected ?? 0),
      });
    }
    if (rows.reduce((sum, { n }) => sum + Number(n), 0) < atOnce) return [...totals.values()];
    after = rows.reduce((newest, { last }) => (String(last) > newest ? String(last) : newest), after);
  }
}

const countSome =
  `select via, result, count(*) as n, max(id) as last, count(case when is_counted = 1 then 1 end) as imports,
    coalesce(sum(case when is_counted = 1 then inserted + updated + unchanged end), 0) as accepted,
    coalesce(sum(case when is_counted = 1 then rejected end), 0) as rejected
  from (
    select id, via, result, inserted, updated, unchanged, rejected,
      case when options like '%dry-run%' then 0 else 1 end as is_counted
    from import_history where id > $1 order by id limit $2
  ) as step group by via, result` as const;
