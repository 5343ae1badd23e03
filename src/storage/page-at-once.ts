import { type PageStart, pageSql, pageStatement, type SubscriptionOrder } from './page-sql.ts';
import type { Row, SqlValue, TenantSql, TenantStatement } from './store.ts';
import { type Bind, binder, isCounted, type SubscriptionFilter } from './subscription-filter.ts';
import { directStepsMax, type PagePosition, type PageRecord } from './subscription-page.ts';
import { rangeSql, toRange } from './subscription-rank.ts';

/** A page with all that its answer tells. */
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
 * The two statements, of one moment, that read up to `limit` records from a position, their total and the tenant's revision; `undefined` for a position that the
 * kept counts must find first. What a page costs is less its records than its statements, and records arrive as one value for half of what rows cost. All in
 * one statement took SQLite twice as long.
 */
export function pageAtOnce(
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  position: PagePosition,
  limit: number,
): readonly [TenantStatement, TenantStatement] | undefined {
  const start = startOf(filter, order, position);
  if (start === undefined) return undefined;
  const back = position.kind === 'before';
  const page = pageStatement(filter, back ? reverse(order) : order, start, limit);
  const text = "string_agg(cast(date as text) || ' ' || id || '\n' || record, '\n') as page";
  return [
    describeRange(filter, back ? order : reverse(order), position),
    { sql: `select ${text} from (${page.sql}) as page` as TenantSql, values: page.values },
  ];
}

/** Reads what the answer tells beside the page. */
function describeRange(filter: SubscriptionFilter, away: SubscriptionOrder, position: PagePosition): TenantStatement {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const { start, end } = rangeSql(filter, bind);
  const sql =
    `select revision, ${start} as range_start, ${end} as range_end, ${isBeyondKey(filter, away, position, bind)} as beyond_key
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return { sql, values };
}

/** The page from the first rows of its statements, for the same position. */
export function toPageAtOnce([head, body]: readonly (Row | undefined)[], { kind }: PagePosition): PageAtOnce {
  const records = typeof body?.page === 'string' ? splitRecords(body.page) : [];
  return {
    records: kind === 'before' ? records.reverse() : records,
    total: toRange(head).total,
    isBeyondKey: Number(head?.beyond_key ?? 0) > 0,
    revision: Number(head?.revision ?? 0),
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
