import type { FormPair } from '../contract/form.ts';
import type { Instant } from '../contract/instant.ts';
import type { PageLimits } from '../contract/page-limits.ts';
import type { DateField, SortValue } from '../contract/query.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import type { Cursor } from './cursor.ts';

/** The filters and the order of a report. */
export interface ReportFilters {
  readonly iccid?: string;
  readonly email?: string;
  readonly productId?: string;
  /** Sorted, without duplicates. */
  readonly statuses?: readonly string[];
  readonly before?: Instant;
  readonly after?: Instant;
  readonly dateField: DateField;
  readonly deviceId?: string;
  readonly planId?: string;
  readonly autoRenew?: string;
  readonly createdFrom?: Instant;
  readonly createdTo?: Instant;
  readonly expiresWithinSeconds?: number;
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
   * The filters and the order as they arrived in the URL, which links to other pages repeat. Absent
   * if they must not appear in a URL.
   */
  readonly filters?: readonly FormPair[];
  /** Fingerprint of the filters, the order and `size`: a cursor is valid only for its own query. */
  readonly fingerprint: string;
}

/** The filters without an order, and the start of the `expires-within` range. */
export type AskedFilters = Omit<ReportFilters, 'sort'> & Pick<ReportQuery, 'nowSeconds'>;

/** What parsing needs. */
export interface QueryContext {
  readonly limits: PageLimits;
  /** Returns the time in UTC epoch seconds. */
  readonly now: () => number;
}
