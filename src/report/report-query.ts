import type { Instant } from '../contract/instant.ts';
import type { PageLimits } from '../contract/page-limits.ts';
import type { DateField, ReportParameter, SortValue } from '../contract/query.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import type { Cursor } from './cursor.ts';

/** The filters and the order of a report. */
export interface ReportFilters {
  readonly iccid?: string | undefined;
  readonly email?: string | undefined;
  readonly productId?: string | undefined;
  /** Sorted, without duplicates. */
  readonly statuses?: readonly string[] | undefined;
  readonly before?: Instant | undefined;
  readonly after?: Instant | undefined;
  readonly dateField: DateField;
  readonly deviceId?: string | undefined;
  readonly planId?: string | undefined;
  readonly autoRenew?: string | undefined;
  readonly createdFrom?: Instant | undefined;
  readonly createdTo?: Instant | undefined;
  readonly expiresWithinSeconds?: number | undefined;
  readonly sort: SortValue;
}

/** A validated report query. */
export interface ReportQuery extends ReportFilters {
  readonly size: number;
  readonly page: number;
  readonly cursor?: Cursor;
  readonly format: ReportFormat;
  /** Whether to return the whole report instead of a page. */
  readonly all: boolean;
  /**
   * Start of the `expires-within` range in UTC epoch seconds: now, or the time of the first page.
   */
  readonly nowSeconds: number;
  /**
   * The filters and the order as they arrived in the URL, encoded, each followed by `&`: the start
   * of links to other pages. Absent if they must not appear in a URL.
   */
  readonly linkQuery?: string;
  /** The filters and the order in their canonical form. */
  readonly canonical: CanonicalFilters;
  /** Fingerprint of `canonical` and `size`: a cursor is valid only for its own query. */
  readonly fingerprint: string;
}

/** The filters and the order of a query in their canonical form: parameters with their values. */
export type CanonicalFilters = readonly (readonly [ReportParameter, string])[];

/** The filters without an order, and the start of the `expires-within` range. */
export type AskedFilters = Omit<ReportFilters, 'sort'> & Pick<ReportQuery, 'nowSeconds'>;

/** What parsing needs. */
export interface QueryContext {
  readonly limits: PageLimits;
  /** Returns the time in UTC epoch seconds. */
  readonly now: () => number;
}
