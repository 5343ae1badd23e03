import { formatDuration, parseDuration } from '../../contract/duration.ts';
import { formatExactInstant, formatInstant, type Instant } from '../../contract/instant.ts';
import { type ListParameter, type Lists, listParameters } from '../../contract/listed-values.ts';
import { parseInstantIn } from '../../contract/local-time.ts';
import { type DateField, dateFields, type ReportParameter, type SortValue } from '../../contract/query.ts';
import { normaliseEmail, readStatusFilter } from '../../contract/subscription.ts';
import type {
  DateBounds,
  DateColumn,
  ListColumn,
  SubscriptionFilter,
  ValueColumn,
} from '../storage/subscription-filter.ts';
import type { RequestReader } from './read-parameters.ts';

type ParameterReader = Omit<RequestReader<ReportParameter>, 'faults' | 'isUnreadable'>;

/** A filter: its parameter, and what it means. */
interface FilterRow<T> {
  readonly parameter: ReportParameter;
  read(from: ParameterReader): T | undefined;
  /** Its canonical form: dates in UTC, statuses sorted and without duplicates. */
  format(value: T): string;
  /** How `X-Applied-Filters` shows it, if not in its canonical form: personal or long. */
  show?(value: T): string;
  /** Its conditions on the columns, if it has any. */
  where?(value: T, query: Moment): Condition;
}

/** What the meaning of some filters depends on. */
interface Moment {
  /** The date that `before` and `after` apply to. */
  readonly dateField: DateField;
  /** Start of the `expires-within` range, in UTC epoch seconds: now, or when page 1 was read. */
  readonly nowSeconds: number;
}

/** A value of a column, some statuses, or bounds of a date. */
type Condition = Partial<Pick<SubscriptionFilter, ValueColumn | 'statuses'>> | DateBounds | undefined;

const value = (
  parameter: ReportParameter,
  column: ValueColumn,
  normalise?: (text: string) => string,
): FilterRow<string> => ({
  parameter,
  read: ({ readText }) => readText(parameter, normalise),
  format: (text) => text,
  where: (text) => ({ [column]: text }),
});

/** A value, or any of a list. */
const values = (parameter: ListParameter): FilterRow<string | readonly string[]> => ({
  parameter,
  read: ({ readText, readList }) => readList(parameter) ?? readText(parameter),
  format: (given) => (typeof given === 'string' ? given : JSON.stringify(given)),
  show: (given) => (typeof given === 'string' ? given : `(${given.length} values)`),
  where: (given) => ({ [listColumns[parameter]]: given }),
});

const date = (parameter: ReportParameter, where: NonNullable<FilterRow<Instant>['where']>): FilterRow<Instant> => ({
  parameter,
  read: ({ read, zone }) => read(parameter, (text) => parseInstantIn(text, zone)),
  format: formatExactInstant,
  where,
});

const row = <T>(filter: FilterRow<T>): FilterRow<T> => filter;

/**
 * All filters, in the order of the canonical form, by their member of `ReportFilters`.
 * `docs/contributors/how-to-change.md` lists what a new filter needs.
 */
const rows = {
  id: values('id'),
  iccid: values('iccid'),
  email: { ...value('email', 'email', normaliseEmail), show: () => '***' },
  productId: value('product-id', 'productId'),
  statuses: row<readonly string[]>({
    parameter: 'status',
    read: ({ readText }) => readText('status')?.split(',').filter(isFirst).sort(),
    format: (statuses) => statuses.join(','),
    where: (statuses) => ({ statuses: statuses.map(readStatusFilter) }),
  }),
  before: date('before', (at, { dateField }) => ({
    dateColumn: dateColumns[dateField],
    beforeSeconds: wholeSecond(at),
  })),
  after: date('after', ({ seconds }, { dateField }) => ({ dateColumn: dateColumns[dateField], afterSeconds: seconds })),
  dateField: row<DateField>({
    parameter: 'date-field',
    read: ({ read }) => read('date-field', (text) => memberOf(Object.keys(dateFields) as DateField[], text)),
    format: (field) => field,
  }),
  deviceId: values('device-id'),
  planId: value('plan-id', 'planId'),
  autoRenew: {
    ...value('auto-renew', 'autoRenew'),
    read: ({ read }: ParameterReader) => read('auto-renew', (text) => memberOf(['true', 'false'], text)),
  },
  createdFrom: date('created-from', (at) => ({ dateColumn: 'created_date', afterSeconds: wholeSecond(at) - 1 })),
  createdTo: date('created-to', (at) => ({ dateColumn: 'created_date', beforeSeconds: wholeSecond(at) })),
  expiresWithinSeconds: row<number>({
    parameter: 'expires-within',
    read: ({ read }) => read('expires-within', parseDuration),
    format: formatDuration,
    where: (seconds, { nowSeconds }) => ({
      dateColumn: 'expiration_date',
      afterSeconds: nowSeconds,
      beforeSeconds: nowSeconds + seconds + 1, // includes the last second
    }),
  }),
  zone: row<string>({
    parameter: 'zone',
    read: ({ zone }) => zone?.name,
    format: (name) => name,
  }),
};

type Rows = typeof rows;
type Value<Row> = Row extends FilterRow<infer T> ? T : never;

export type ReportFilters = { readonly [Name in Exclude<keyof Rows, 'dateField'>]?: Value<Rows[Name]> | undefined } & {
  readonly dateField: DateField;
};

/** The filters, and the start of the `expires-within` range in UTC epoch seconds. */
export type AskedFilters = ReportFilters & { readonly nowSeconds: number };

/**
 * The filters and the order of a query in their canonical form: parameters with their values, and
 * how these are shown if differently.
 */
export type CanonicalFilters = readonly (readonly [ReportParameter, string, shown?: string])[];

const allRows = Object.entries(rows) as readonly (readonly [keyof ReportFilters, FilterRow<unknown>])[];

export function readFilters(from: ParameterReader): ReportFilters {
  const filters: Partial<Record<keyof Rows, unknown>> = {};
  for (const [name, { read }] of allRows) filters[name] = read(from);
  filters.dateField ??= 'created';
  return filters as ReportFilters;
}

/**
 * Returns the canonical form of a query's filters and order: the parameters that have a value, in a
 * fixed order; `date-field` always; `sort` if there is an order.
 */
export function canonicalFilters(filters: ReportFilters, sort?: SortValue): CanonicalFilters {
  const pairs: [ReportParameter, string, shown?: string][] = [];
  for (const [name, { parameter, format, show = format }] of allRows) {
    if (filters[name] === undefined) continue;
    const [canonical, shown] = [format(filters[name]), show(filters[name])];
    pairs.push(shown === canonical ? [parameter, canonical] : [parameter, canonical, shown]);
  }
  if (sort !== undefined) pairs.push(['sort', sort]);
  return pairs;
}

/**
 * Returns the header `X-Applied-Filters`: the canonical filters as a query string, the email
 * address redacted, a list by its number of values, and after `expires-within` the date range it
 * meant (`expires-after` is exclusive, `expires-until` inclusive).
 */
export function describeFilters(
  { nowSeconds, expiresWithinSeconds = 0 }: Pick<AskedFilters, 'nowSeconds' | 'expiresWithinSeconds'>,
  canonical: CanonicalFilters,
): string {
  let text = '';
  const add = (name: string, shown: string): void => {
    text += `${text === '' ? '' : '&'}${name}=${encodeURIComponent(shown)}`;
  };
  for (const [name, value, shown = value] of canonical) {
    add(name, shown);
    if (name !== 'expires-within') continue;
    add('expires-after', formatInstant(nowSeconds));
    add('expires-until', formatInstant(nowSeconds + expiresWithinSeconds));
  }
  return text;
}

/** The lists of a query. */
export const listsOf = (filters: ReportFilters): Lists =>
  listParameters.flatMap((name) => {
    const list = filters[listColumns[name]];
    return typeof list === 'object' ? [[name, list] as const] : [];
  });

/** The filters that can be lists, which have the names of their columns. */
export const listColumns = { id: 'id', iccid: 'iccid', 'device-id': 'deviceId' } as const satisfies Record<
  ListParameter,
  ListColumn
>;

/**
 * Translates the filters of a query for the store: one pair of bounds per date; the creation date
 * first, as the default order and the counts use it.
 */
export function planFilter(query: AskedFilters): SubscriptionFilter {
  const bounds = new Map<DateColumn, DateBounds>();
  let conditions: Condition = {};
  for (const [name, { where }] of allRows) {
    const condition = query[name] === undefined ? undefined : where?.(query[name], query);
    if (condition === undefined) continue;
    if ('dateColumn' in condition)
      bounds.set(condition.dateColumn, narrow(condition, bounds.get(condition.dateColumn)));
    else conditions = { ...conditions, ...condition };
  }
  const created = bounds.get('created_date');
  bounds.delete('created_date');
  const [first = { dateColumn: dateColumns[query.dateField] }, ...furtherBounds] = [
    ...(created === undefined ? [] : [created]),
    ...bounds.values(),
  ];
  return { ...first, ...(furtherBounds.length > 0 && { furtherBounds }), ...conditions };
}

/** The bounds of one date that both hold. */
function narrow(bounds: DateBounds, known: DateBounds = bounds): DateBounds {
  const both = [bounds, known];
  const after = Math.max(...both.map(({ afterSeconds = Number.NEGATIVE_INFINITY }) => afterSeconds));
  const before = Math.min(...both.map(({ beforeSeconds = Number.POSITIVE_INFINITY }) => beforeSeconds));
  return {
    dateColumn: bounds.dateColumn,
    ...(Number.isFinite(after) && { afterSeconds: after }),
    ...(Number.isFinite(before) && { beforeSeconds: before }),
  };
}

export const dateColumns: Readonly<Record<DateField, DateColumn>> = {
  created: 'created_date',
  activation: 'activation_date',
  expiration: 'expiration_date',
};

/**
 * Rounds up, as dates are stored in whole seconds: a date is 5.2 or later if it is 6 or later, and
 * before 5.2 if it is before 6. After 5.2 means after 5.
 */
function wholeSecond({ seconds, nanos }: Instant): number {
  return seconds + (nanos > 0 ? 1 : 0);
}

const isFirst = (word: string, index: number, words: readonly string[]): boolean => words.indexOf(word) === index;

/** The member that equals a string, or `undefined`. */
export function memberOf<T extends string>(members: readonly T[], text: string): T | undefined {
  return members.find((member) => member === text);
}
