import { type PageStart, type PageStatement, pageSql, type SubscriptionOrder } from './page-sql.ts';
import type { Row, SqlValue, TenantSql } from './store.ts';
import { type Bind, binder, isCounted, type SubscriptionFilter } from './subscription-filter.ts';
import { directStepsMax, type PagePosition, type PageRecord } from './subscription-page.ts';
import { rangeSql, toRange } from './subscription-rank.ts';

/** A page with all that its answer tells, as one statement read it. */
export interface PageAtOnce {
  /** In the order asked for. */
  readonly records: readonly PageRecord[];
  /** All records that the filter lets through. */
  readonly total: number;
  /** Whether there is a record on the other side of the key that the page lies after or before; `false` for a page by its number. */
  readonly isBeyondKey: boolean;
  /** The tenant's revision. */
  readonly revision: number;
}

/**
 * The statement that reads up to `limit` records from a position, their total and the tenant's revision as one row: what a page costs is less its records than
 * the statements that it takes. `undefined` for a position that the kept counts must find first. In one value, records arrive for half of what rows cost.
 */
export function pageAtOnce(
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  limit: number,
): PageStatement | undefined {
  const start = startOf(filter, order, position);
  if (start === undefined) return undefined;
  const values: SqlValue[] = [];
  const bind = binder(values);
  const back = position.kind === 'before';
  const range = rangeSql(filter, bind);
  const page = pageSql(filter, back ? reverse(order) : order, start, limit, bind);
  const sql =
    `select (select revision from tenant where id = $1) as revision, ${range.start} as range_start, ${range.end} as range_end,
    ${isBeyondKey(filter, back ? order : reverse(order), position, bind)} as beyond_key,
    (select string_agg(cast(date as text) || ' ' || id || '\n' || record, '\n') from (${page}) as page) as page` as TenantSql;
  return { sql, values };
}

/** The page from the row of its statement, for the same position. */
export function toPageAtOnce(row: Row | undefined, { kind }: PagePosition): PageAtOnce {
  const records = row?.page === null || row?.page === undefined ? [] : splitRecords(String(row.page));
  return {
    records: kind === 'before' ? records.reverse() : records,
    total: toRange(row).total,
    isBeyondKey: Number(row?.beyond_key ?? 0) > 0,
    revision: Number(row?.revision ?? 0),
  };
}

/** Keys and records by turns, a line each: neither holds a line end, which JSON writes as `\n` and ids may not have. */
function splitRecords(text: string): PageRecord[] {
  const lines = text.split('\n');
  const records: PageRecord[] = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [key = '', record = ''] = [lines[index], lines[index + 1]];
    const blank = key.indexOf(' ');
    records.push({ date: Number(key.slice(0, blank)), id: key.slice(blank + 1), record });
  }
  return records;
}

function startOf(
  filter: SubscriptionFilter,
  { column }: SubscriptionOrder,
  position: PagePosition,
): PageStart | undefined {
  if (position.kind !== 'offset') return { kind: 'beyond', key: position.key };
  const { skip } = position;
  if (skip === 0) return { kind: 'first' };
  const isNear = skip <= directStepsMax || !isCounted(filter) || column !== 'created_date';
  return isNear ? { kind: 'step', steps: skip } : undefined;
}

/** How many records, one at most, stand at the key or on its other side; `order` leads away from the page. */
function isBeyondKey(filter: SubscriptionFilter, order: SubscriptionOrder, position: PagePosition, bind: Bind): string {
  if (position.kind === 'offset') return '0';
  const start = { kind: 'beyond', key: position.key, isKeyItself: true } as const;
  return `(select count(*) from (${pageSql(filter, order, start, 1, bind)}) as beyond)`;
}

const reverse = (order: SubscriptionOrder): SubscriptionOrder => ({ ...order, descending: !order.descending });
