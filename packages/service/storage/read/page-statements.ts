import { type FilterRange, type Leaves, rangeColumns, toRange } from '../counts/range.ts';
import type { ReadOptions, Row, SqlValue, Store, TenantStatement } from '../store.ts';
import { type Bind, binder } from '../subscription-filter.ts';
import {
  countBeyondSql,
  type PageRecords,
  type PageStart,
  type RecordsQuery,
  recordsQuery,
  reverse,
  type ScannedQuery,
} from './page-sql.ts';

// A page is read with two statements, or with both in one: the body has its records, the head
// everything else (the range of the filter, what lies around the page, the revision).

/** Records of one snapshot, and the range of all records of the filter. */
export interface Page extends FilterRange {
  readonly records: PageRecords;
  /** How many records of the filter precede the page, if that is known. */
  readonly passed: number | undefined;
  /**
   * Whether there is a record at or on the other side of the position's key; `false` for a position
   * without one.
   */
  readonly isBeyondKey: boolean;
  /** Whether more records follow those of the page, away from the position. */
  readonly hasMore: boolean;
  /** The tenant's revision. */
  readonly revision: number;
}

/** What is known of a page at a revision before it is read. */
export interface Known {
  readonly revision: number;
  /** The range of its filter, and how many of its records precede the page, if that is known. */
  readonly range?: FilterRange & { readonly passed?: number | undefined };
  /** The leaves of its filter, in the order of the page. */
  readonly leaves?: Leaves;
}

/** The parts of the store that a page uses. */
export type PageStore = Pick<Store, 'engine' | 'readTenant' | 'readTenantOnce'>;

export type BoundedQuery = ScannedQuery & ReadOptions;

/** The statement of the body; `columns` are added to it. */
export function bodyQuery(
  { engine }: PageStore,
  query: ScannedQuery,
  start: PageStart,
  columns?: (bind: Bind) => string,
): RecordsQuery {
  const { filter, order, position, size, layout } = query;
  const isReversed = position.kind === 'before' || (start.kind === 'step' && start.isReversed === true);
  return recordsQuery(engine, {
    filter,
    order: isReversed ? reverse(order) : order,
    start,
    limit: size,
    isReversed,
    layout,
    columns,
  });
}

/** Reads everything about a page but its records; `total` is the filter that is counted. */
export function headQuery(query: ScannedQuery, known: Known | undefined, total = query.filter): TenantStatement {
  const values: SqlValue[] = [];
  const sql = `select ${headColumns(query, known, binder(values), total)}revision
    from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1` as const;
  return { sql, values };
}

/** The statement of the body with the columns of the head. */
export const wholeQuery = (store: PageStore, query: ScannedQuery, start: PageStart, known: Known | undefined) =>
  bodyQuery(store, query, start, (bind) => `${headColumns(query, known, bind)}${revisionColumn}`);

/** Selects the tenant's revision. */
export const revisionColumn =
  '(select revision from (select id as tenant_id, revision from tenant) as tenant where tenant_id = $1) as revision';

/** The columns of the head except the revision, as far as they are not known, each with a comma. */
function headColumns(
  { filter, order, position, size }: ScannedQuery,
  known: Known | undefined,
  bind: Bind,
  total = filter,
): string {
  const range = known?.range === undefined ? `${rangeColumns(total, bind, 'range', known?.leaves)}, ` : '';
  if (position.kind === 'offset' || known?.range?.passed !== undefined) return range;
  // how many records are behind the key of the page and beyond it, as far as that matters
  const { orderKey } = position;
  const [back, forward] = position.kind === 'before' ? [order, reverse(order)] : [reverse(order), order];
  const behind = countBeyondSql(filter, back, { kind: 'beyond', orderKey, isKeyItself: true }, 1, bind);
  const beyond = countBeyondSql(filter, forward, { kind: 'beyond', orderKey }, size + 1, bind);
  return `${range}${behind} as behind, ${beyond} as beyond, `;
}

/** The page of a row of the head, or of both statements in one. */
export function toPage(
  { position, size }: ScannedQuery,
  row: Row | undefined,
  records: PageRecords,
  known: Known | undefined,
): Page {
  const { start, total } = known?.range ?? toRange(row);
  const passed = position.kind === 'offset' ? position.skip : known?.range?.passed;
  return {
    start,
    total,
    records,
    passed,
    isBeyondKey: position.kind !== 'offset' && (passed === undefined ? Number(row?.behind) > 0 : passed > 0),
    hasMore: passed === undefined ? Number(row?.beyond) > size : passed + records.count < total,
    revision: Number(row?.revision ?? 0),
  };
}
