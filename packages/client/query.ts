import type { Product, Subscription, SubscriptionStatus } from './records.ts';

/**
 * An instant: a `Date`, or an ISO 8601 date-time with `Z` or an offset. With `zone`, also one
 * without an offset, or a date: the start of that day.
 */
export type Instant = Date | string;

/** A status, compared exactly, or `none` for records without one; `\\none` is the status `none`. */
export type StatusFilter = SubscriptionStatus | 'none';

/** A field that orders the report; `-` means descending. */
export type SubscriptionSort = `${'' | '-'}${'createdDate' | 'activationDate' | 'expirationDate'}`;

/**
 * The filters of the report, by the names of the query parameters. They are combined with AND; a
 * member that is `undefined` is omitted.
 */
export interface SubscriptionFilters {
  readonly id?: string | undefined;
  readonly iccid?: string | undefined;
  readonly 'product-id'?: string | undefined;
  /** Only subscriptions with one of these statuses; `none` selects those without a status. */
  readonly status?: StatusFilter | readonly StatusFilter[] | undefined;
  /** Only subscriptions whose date (`date-field`) is before this instant (<). */
  readonly before?: Instant | undefined;
  /** Only subscriptions whose date (`date-field`) is after this instant (>). */
  readonly after?: Instant | undefined;
  /** The date that `before` and `after` apply to; `created` by default. */
  readonly 'date-field'?: 'created' | 'activation' | 'expiration' | undefined;
  readonly 'device-id'?: string | undefined;
  readonly 'plan-id'?: string | undefined;
  readonly 'auto-renew'?: boolean | 'true' | 'false' | undefined;
  /** Only subscriptions created at or after this instant (>=). */
  readonly 'created-from'?: Instant | undefined;
  /** Only subscriptions created before this instant (<). */
  readonly 'created-to'?: Instant | undefined;
  /** Only subscriptions that expire within this duration from now: `7d`, `12h`, `2w`, `P7D`. */
  readonly 'expires-within'?: string | undefined;
  /** The IANA time zone of days and months, and of dates without an offset: `Europe/Berlin`. */
  readonly zone?: string | undefined;
}

/** A value, or up to 1,000 of which a record has any. Lists are sent in a request body. */
export type OneOrMore = string | readonly string[];

/** The filters and the order of a report. */
export interface OrderedQuery extends Omit<SubscriptionFilters, 'id' | 'iccid' | 'device-id'> {
  readonly id?: OneOrMore | undefined;
  readonly iccid?: OneOrMore | undefined;
  readonly 'device-id'?: OneOrMore | undefined;
  /** An email address or identifier, which is sent in a request body, never in a URL. */
  readonly email?: string | undefined;
  /** `createdDate` by default. */
  readonly sort?: SubscriptionSort | undefined;
  /**
   * The only fields of each record: others are absent, although their types require them. CSV and
   * Parquet have their columns in this order.
   */
  readonly fields?: SubscriptionField | readonly SubscriptionField[] | undefined;
}

/** A field of a record; `product` has all of its fields. */
export type SubscriptionField = keyof Subscription | `product.${keyof Product}`;

/** A moment of the past: an instant, or a revision. */
export type Moment = Instant | number;

/** The filters and the order of a whole report. */
export interface ExportQuery extends OrderedQuery {
  /** The report as it was at this moment, as the service knew it then. */
  readonly 'as-of'?: Moment | undefined;
  /** With `local` and `zone`, the dates of CSV are local: `2024-05-01T10:00:00+02:00`. */
  readonly dates?: 'utc' | 'local' | undefined;
}

/** The filters, order and position of a report. */
export interface SubscriptionQuery extends OrderedQuery {
  /**
   * Records per page, 1 to 1,000 unless the operator has set other limits. By default 20 for
   * `page()`, and 1,000 or the service's limit where the list reads all pages.
   */
  readonly size?: number | undefined;
  /** Number of the first page to read. */
  readonly page?: number | undefined;
  /** Position to start from: `nextCursor` or `previousCursor` of a page of the same query. */
  readonly cursor?: string | undefined;
}

/** A dimension of the summary. */
export type SummaryDimension = 'status' | 'product-id' | 'plan-id' | 'auto-renew' | 'day' | 'month';

/**
 * The filters and dimensions of a summary. It has no `email`, which would be in the URL: use
 * `search({ email }).total()`.
 */
export interface SummaryQuery extends SubscriptionFilters {
  /** The counts as they were at this moment, as the service knew it then. */
  readonly 'as-of'?: Moment | undefined;
  /** All but `day` and `month` by default. */
  readonly by?: SummaryDimension | readonly SummaryDimension[] | undefined;
}

/**
 * The query as members of a JSON body: dates as strings, without members that are `undefined`.
 * Throws `TypeError` for a value that the service could only ignore, such as `null` or an empty
 * list, because an ignored filter returns more records than requested.
 */
export function bodyOf(query: object): Record<string, unknown> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, memberOf(name, value)]));
}

function memberOf(name: string, value: unknown): unknown {
  const isDate = value instanceof Date;
  const rule =
    value === null || value === '' || (Array.isArray(value) && value.length === 0)
      ? 'a value, or undefined to omit it'
      : isDate && Number.isNaN(value.getTime()) && 'a valid Date';
  if (rule) throw new TypeError(`Cannot use parameter '${name}': it must be ${rule}: current value is '${value}'`);
  return isDate ? value.toISOString() : value;
}

/**
 * Whether a query is sent in the body: with an email address or a list of ids. Quotes in values are
 * escaped.
 */
export const isForBody = (query: object): boolean => /"email":|"(id|iccid|device-id)":\[/.test(JSON.stringify(query));

/** Whether a query is too long for a URL: the links to other pages, in headers, repeat it. */
export const isLong = (query: object): boolean => queryStringOf(query).length > 300;

/** The listed values of a query that no record has, by filter. */
export type NotFound = Readonly<Partial<Record<'id' | 'iccid' | 'device-id', readonly string[]>>>;

/** The listed values at the positions of X-Not-Found: `iccid=2,5-7`, or bits of `iccid=0xe4`. */
export function notFoundIn(headers: Headers, query: OrderedQuery): NotFound {
  return Object.fromEntries(
    [...new URLSearchParams(headers.get('x-not-found') ?? '')].map(([name, positions]) => {
      const listed = [query[name as keyof NotFound] ?? []].flat();
      if (/^0x[\da-f]{1,250}$/.test(positions))
        return [name, listed.filter((_, at) => (BigInt(positions) >> BigInt(at)) & 1n)];
      // NaN for no position, which selects nothing
      const ranges = positions.split(',').map((range) => range.split('-').map(parseFloat));
      return [name, ranges.flatMap(([from = 0, to = from]) => listed.slice(from, to + 1))];
    }),
  );
}

/** The same as a query string: lists are separated by commas. */
export function queryStringOf(query: object): string {
  const pairs = Object.entries(bodyOf(query)).map(([name, value]) => [name, String(value)]);
  return new URLSearchParams(pairs).toString();
}
