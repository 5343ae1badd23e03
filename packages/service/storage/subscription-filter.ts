import type { SqlValue } from './store.ts';
import type { dateColumns } from './subscription-row.ts';

/** A date that reports can be ordered and filtered by. */
export type DateColumn = (typeof dateColumns)[number];

export interface DateBounds {
  /** The column that both bounds apply to. */
  readonly dateColumn: DateColumn;
  /** Only dates greater than this, in whole UTC epoch seconds. */
  readonly afterSeconds?: number;
  /** Only dates less than this, in whole UTC epoch seconds. */
  readonly beforeSeconds?: number;
}

/** The columns that a filter can require a value of, by their member of `SubscriptionFilter`. */
const valueColumns = {
  id: 'id',
  iccid: 'iccid',
  /** Normalised (`contract/subscription.ts`). */
  email: 'email',
  productId: 'product_id',
  planId: 'plan_id',
  deviceId: 'device_id',
  /** As in the record: `true` or `false`. */
  autoRenew: 'auto_renew',
} as const;
export type ValueColumn = keyof typeof valueColumns;

const allValueColumns = Object.entries(valueColumns) as [ValueColumn, string][];

/** The columns that a filter can require any value of a list of. */
export type ListColumn = 'id' | 'iccid' | 'deviceId';

/** Conditions on subscriptions, combined with AND; of a list, which is not empty, any value. */
export interface SubscriptionFilter
  extends DateBounds,
    Readonly<Partial<Record<Exclude<ValueColumn, ListColumn>, string>>>,
    Readonly<Partial<Record<ListColumn, string | readonly string[]>>> {
  /** Any of these; not empty. `null` is no status. */
  readonly statuses?: readonly (string | null)[];
  readonly furtherBounds?: readonly DateBounds[];
}

/** A filter, and how its rows are read: the service chooses that, never a query. */
export interface Scan extends SubscriptionFilter {
  /** The index that the rows are read in, if the planner has no choice (`read/choose-index.ts`). */
  readonly index?: RecordIndex;
  /** All products of the rows; the index of products is read in a range for each. */
  readonly indexProducts?: readonly string[];
  /** Maximum records of one SIM, device or subscriber that are read, in no particular order. */
  readonly recordsMax?: number;
}

/** An index of the records, by its first column. The dates order themselves. */
export type RecordIndex = DateColumn | 'product_id' | 'status';

/** The date that orders the entries of an index, those of one product or status. */
export const dateOfIndex = <P extends string>(index: P): Exclude<P, 'product_id' | 'status'> | 'created_date' =>
  index === 'product_id' || index === 'status' ? 'created_date' : (index as Exclude<P, 'product_id' | 'status'>);

/** Adds a value to a statement and returns its placeholder; `$1` is the tenant. */
export type Bind = (value: SqlValue) => string;

/** A `Bind` that adds to `values`. */
export function binder(values: SqlValue[]): Bind {
  return (value) => `$${values.push(value) + 1}`;
}

/** Columns with an index of their own that a filter requires a value of; the first one is read. */
const leadingColumns = ['id', 'iccid', 'device_id', 'email', 'product_id'];

/**
 * With an index, or for some records, SIMs, devices or a subscriber, columns that lead another
 * index are compared as expressions, so that both engines can only use that index. SQLite would
 * otherwise find a subscriber's records within bounds by reading all records within the bounds.
 */
export function filterConditions(filter: Scan, bind: Bind): string[] {
  const { statuses, indexProducts } = filter;
  const index = filter.index ?? columnOfOne(filter);
  const conditions: string[] = [];
  if (indexProducts?.length === 0)
    conditions.push('false'); // an empty list is an error on PostgreSQL
  else if (indexProducts !== undefined) conditions.push(`product_id in (${indexProducts.map(bind).join(', ')})`);
  for (const [name, column] of allValueColumns) {
    const value = filter[name];
    const isOfOther = index !== undefined && index !== column && leadingColumns.includes(column);
    if (value === undefined) continue;
    const equals = typeof value === 'string' ? `= ${bind(value)}` : equalsAny(value, bind);
    conditions.push(`${isOfOther ? `${column} || ''` : column} ${equals}`);
  }
  if (statuses !== undefined) conditions.push(statusCondition(statuses, index, bind));
  for (const { dateColumn, afterSeconds, beforeSeconds } of boundsOf(filter)) {
    const isOfOther = index !== undefined && dateOfIndex(index) !== dateColumn;
    const date = isOfOther ? `${dateColumn} + 0` : dateColumn;
    if (afterSeconds !== undefined) conditions.push(`${date} > ${bind(afterSeconds)}`);
    if (beforeSeconds !== undefined) conditions.push(`${date} < ${bind(beforeSeconds)}`);
  }
  return conditions;
}

/**
 * SQL that compares with any of some values, bound as one parameter, so that the statement is the
 * same for any number of them. With an array as the parameter, PostgreSQL would estimate the rows
 * of each value whenever it plans: 12 ms for 1,000, and it may then read all rows of a tenant.
 * SQLite has another form (`numbered`).
 */
const equalsAny = (values: readonly string[], bind: Bind): string =>
  `= any(array(select json_array_elements_text(${bind(JSON.stringify(values))}::json)))`;

/** The bounds of a filter, at most one pair for each date. */
export const boundsOf = ({ dateColumn, afterSeconds, beforeSeconds, furtherBounds = [] }: SubscriptionFilter) =>
  [
    {
      dateColumn,
      ...(afterSeconds !== undefined && { afterSeconds }),
      ...(beforeSeconds !== undefined && { beforeSeconds }),
    },
    ...furtherBounds,
  ].filter(isBounded);

/** The status that the index of statuses leaves out. */
export const unindexedStatus = 'EXPIRED';

/** No record has this status: a status has no comma. */
const otherThanAny = ',';

/**
 * In another index, an expression: PostgreSQL up to version 16 would read a list of statuses in
 * the index, but lose its order. It is not the one of the index of statuses, which PostgreSQL would
 * read then. Otherwise, statuses that are indexed repeat the index's own condition.
 */
function statusCondition(statuses: readonly (string | null)[], index: string | undefined, bind: Bind): string {
  const any = (words: readonly string[]): string => `in (${words.map(bind).join(', ')})`;
  if (index !== undefined && index !== 'status')
    return `coalesce(status, '${otherThanAny}') ${any(statuses.map((status) => status ?? otherThanAny))}`;
  const words = statuses.filter((status) => status !== null);
  const conditions = [
    ...(words.length > 0 ? [`status ${any(words)}`] : []),
    ...(words.length < statuses.length ? ['status is null'] : []),
  ];
  const either = conditions.length === 1 ? conditions.join() : `(${conditions.join(' or ')})`;
  return statuses.includes(unindexedStatus) ? either : `${either} and coalesce(status, '') <> '${unindexedStatus}'`;
}

/**
 * Whether a filter selects records, SIMs or devices by their ids, or a subscriber: these probably
 * have few records, which an index of their own has.
 */
export const selectsOne = (filter: SubscriptionFilter): boolean => columnOfOne(filter) !== undefined;

/** The column whose index is read: rather that of one value than that of a list. */
function columnOfOne(filter: SubscriptionFilter): (typeof valueColumns)[(typeof ownColumns)[number]] | undefined {
  const given = ownColumns.filter((name) => filter[name] !== undefined);
  const name = given.find((each) => typeof filter[each] === 'string') ?? given[0];
  return name && valueColumns[name];
}

const ownColumns = ['id', 'iccid', 'deviceId', 'email'] as const;

/** Whether a filter has one condition besides `dateColumn`, which each has. */
export const hasOneCondition = (filter: SubscriptionFilter): boolean => Object.keys(filter).length === 2;

/** The column of a list, and whether a filter has one. */
export const columnOfList = (name: ListColumn): string => valueColumns[name];
export const hasList = ({ id, iccid, deviceId }: SubscriptionFilter): boolean =>
  [id, iccid, deviceId].some((value) => typeof value === 'object');

/**
 * SQL of the rows of a filter, with columns that the statement uses; further conditions can follow.
 * The rows of one SIM, device or subscriber are found before they are sorted or grouped: their
 * indexes have no order, and a planner may otherwise read all rows of the tenant in that order.
 */
export function rowsFrom(filter: Scan, columns: string, bind: Bind): string {
  const rows = `from subscription where tenant_id = $1${and(filterConditions(filter, bind))}`;
  if (!selectsOne(filter)) return rows;
  const limit = bind(filter.recordsMax ?? Number.MAX_SAFE_INTEGER);
  return `from (select ${columns} ${rows} limit ${limit}) as found where true`;
}

/** Conditions to append to a `where` clause. */
export const and = (conditions: readonly string[]): string =>
  conditions.map((condition) => ` and ${condition}`).join('');

/** The part of a filter that the counts of a span know: product, statuses and renewal. */
export function countedPart(filter: Scan): Scan {
  const { dateColumn, productId, statuses, autoRenew, index } = filter;
  return {
    dateColumn,
    ...(index !== undefined && { index }),
    ...(productId !== undefined && { productId }),
    ...(statuses !== undefined && { statuses }),
    ...(autoRenew !== undefined && { autoRenew }),
  };
}

const isBounded = ({ afterSeconds, beforeSeconds }: DateBounds): boolean =>
  afterSeconds !== undefined || beforeSeconds !== undefined;

/**
 * The filter as the tree of one date counts it, in the order of that date; `undefined` if none
 * does. The trees know statuses, renewal and bounds of their own date, and those of products, in
 * the order of `createdDate`, also a product. A condition that is added to `SubscriptionFilter` is
 * not counted until it is listed here.
 */
export function countedFilter(filter: Scan, column?: DateColumn): SubscriptionFilter | undefined {
  const { productId, statuses, autoRenew, dateColumn, afterSeconds, beforeSeconds, index, ...others } = filter;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  const wanted = column ?? (productId === undefined ? dateColumn : 'created_date');
  if (isBounded(filter) && dateColumn !== wanted) return undefined;
  if (productId !== undefined && wanted !== 'created_date') return undefined;
  return { ...filter, dateColumn: wanted };
}
