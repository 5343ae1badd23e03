import { type PageStart, pageSql, type SubscriptionOrder } from './page-sql.ts';
import type { Row, SqlValue, TenantReader, TenantStatement } from './store.ts';
import { type Bind, binder, isCounted, type SubscriptionFilter } from './subscription-filter.ts';
import {
  directStepsMax,
  type PagePosition,
  type PageRecord,
  recordsStatement,
  toRecords,
} from './subscription-page.ts';
import { type FilterRange, rangeSql, toRange } from './subscription-rank.ts';

/** What the answer tells beside the records of its page. */
export interface PageDescription extends FilterRange {
  /** Whether there is a record on the other side of the key that the page lies after or before; `false` for a page by its number. */
  readonly isBeyondKey: boolean;
  /** The tenant's revision. */
  readonly revision: number;
}

/** A page with all that its answer tells. */
export interface PageAtOnce extends PageDescription {
  /** In the order asked for. */
  readonly records: readonly PageRecord[];
}

/**
 * The two statements, of one moment, that read up to `limit` records from a position, their total and the tenant's revision; `undefined` for a position that the
 * kept counts must find first. What a page costs is less its records than its statements, but all in one took SQLite twice as long.
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
  return [
    rangeStatement(filter, back ? order : reverse(order), position),
    recordsStatement(filter, back ? reverse(order) : order, start, limit),
  ];
}

/** The page from the first rows of its statements, for the same position. */
export function toPageAtOnce([head, body]: readonly (Row | undefined)[], { kind }: PagePosition): PageAtOnce {
  const records = toRecords(body);
  return { ...toDescription(head), records: kind === 'before' ? records.toReversed() : records };
}

/** What an answer tells beside the records of a page that the kept counts find. */
export async function readDescription(reader: TenantReader, filter: SubscriptionFilter): Promise<PageDescription> {
  const { sql, values } = rangeStatement(filter);
  const [row] = await reader.all(sql, values);
  return toDescription(row);
}

/** The statement of what an answer tells beside the records; `away` is the order that leads from a key away from the page. */
function rangeStatement(
  filter: SubscriptionFilter,
  away?: SubscriptionOrder,
  position?: PagePosition,
): TenantStatement {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const { start, end } = rangeSql(filter, bind);
  const beyond = away === undefined || position === undefined ? '0' : isBeyondKey(filter, away, position, bind);
  const sql = `select revision, ${start} as range_start, ${end} as range_end, ${beyond} as beyond_key
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return { sql, values };
}

function toDescription(row: Row | undefined): PageDescription {
  return { ...toRange(row), isBeyondKey: Number(row?.beyond_key ?? 0) > 0, revision: Number(row?.revision ?? 0) };
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
