import type { SqlValue } from './store.ts';

/** A date column that reports can be ordered and filtered by. */
export type DateColumn = 'created_date' | 'activation_date' | 'expiration_date';

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
  iccid: 'iccid',
  /** Normalised (`contract/query.ts`). */
  email: 'email',
  productId: 'product_id',
  planId: 'plan_id',
  deviceId: 'device_id',
  /** As in the record: `true` or `false`. */
  autoRenew: 'auto_renew',
} as const;
export type ValueColumn = keyof typeof valueColumns;

const allValueColumns = Object.entries(valueColumns) as [ValueColumn, string][];

/** Conditions on subscriptions, combined with AND. */
export interface SubscriptionFilter extends DateBounds, Readonly<Partial<Record<ValueColumn, string>>> {
  /** Any of these; not empty. */
  readonly statuses?: readonly string[];
  readonly furtherBounds?: readonly DateBounds[];
  /**
   * Maximum records of one SIM, device or subscriber that are read, in no particular order.
   */
  readonly recordsMax?: number;
}

/** Adds a value to a statement and returns its placeholder; `$1` is the tenant. */
export type Bind = (value: SqlValue) => string;

/** A `Bind` that adds to `values`. */
export function binder(values: SqlValue[]): Bind {
  return (value) => `$${values.push(value) + 1}`;
}

export function filterConditions(filter: SubscriptionFilter, bind: Bind): string[] {
  const { statuses, furtherBounds = [] } = filter;
  const conditions: string[] = [];
  for (const [name, column] of allValueColumns) {
    const value = filter[name];
    if (value !== undefined) conditions.push(`${column} = ${bind(value)}`);
  }
  if (statuses !== undefined) conditions.push(`status in (${statuses.map(bind).join(', ')})`);
  for (const { dateColumn, afterSeconds, beforeSeconds } of [filter, ...furtherBounds]) {
    if (afterSeconds !== undefined) conditions.push(`${dateColumn} > ${bind(afterSeconds)}`);
    if (beforeSeconds !== undefined) conditions.push(`${dateColumn} < ${bind(beforeSeconds)}`);
  }
  return conditions;
}

/** Whether a filter selects one SIM, device or subscriber, which probably has few records. */
export const selectsOne = ({ iccid, email, deviceId }: SubscriptionFilter): boolean =>
  iccid !== undefined || email !== undefined || deviceId !== undefined;

/**
 * SQL of the rows of a filter, with columns that the statement uses; further conditions can follow.
 * The rows of one SIM, device or subscriber are found before they are sorted or grouped: their
 * indexes have no order, and a planner may otherwise read all rows of the tenant in that order.
 */
export function rowsFrom(filter: SubscriptionFilter, columns: string, bind: Bind): string {
  const rows = `from subscription where tenant_id = $1${and(filterConditions(filter, bind))}`;
  if (!selectsOne(filter)) return rows;
  const limit = bind(filter.recordsMax ?? Number.MAX_SAFE_INTEGER);
  return `from (select ${columns} ${rows} limit ${limit}) as found where true`;
}

/** Conditions to append to a `where` clause. */
export const and = (conditions: readonly string[]): string =>
  conditions.map((condition) => ` and ${condition}`).join('');

/** The part of a filter that the counts of a span know: product and statuses. */
export function countedPart({ productId, statuses }: SubscriptionFilter): SubscriptionFilter {
  return {
    dateColumn: 'created_date',
    ...(productId !== undefined && { productId }),
    ...(statuses !== undefined && { statuses }),
  };
}

/**
 * Whether the counts suffice for a filter: one with only a product, statuses and bounds of
 * `createdDate`. A condition that is added to `SubscriptionFilter` makes this `false` until it is
 * listed here.
 */
export function isCounted(filter: SubscriptionFilter): boolean {
  const { productId, statuses, dateColumn, afterSeconds, beforeSeconds, ...others } = filter;
  const isBounded = afterSeconds !== undefined || beforeSeconds !== undefined;
  return Object.values(others).every((value) => value === undefined) && (dateColumn === 'created_date' || !isBounded);
}

/**
 * SQL of the first second of a date's day. Holds before 1970 too, where both engines return a
 * negative remainder.
 */
export const dayOf = (column: DateColumn): string => `(${column} - ((${column} % 86400 + 86400) % 86400))`;
