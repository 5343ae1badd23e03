import type { FormPair } from '../contract/form.ts';
import type { Instant } from '../contract/instant.ts';
import type { DateField, PageLimits, SortValue } from '../contract/query.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import type { Cursor } from './cursor.ts';

/** What chooses the records of a report and their order. */
export interface ReportFilters {
  readonly iccid?: string;
  readonly email?: string;
  readonly productId?: string;
  /** In the order of the alphabet, each once. */
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

/** A report query that can be answered: every value read and checked. */
export interface ReportQuery extends ReportFilters {
  readonly size: number;
  readonly page: number;
  readonly cursor?: Cursor;
  readonly format: ReportFormat;
  /** Whether the whole report is asked for, instead of a page. */
  readonly all: boolean;
  /**
   * The moment that `expires-within` counts from, in UTC epoch seconds: now, or the now of the
   * walk's first page.
   */
  readonly nowSeconds: number;
  /**
   * The parameters that choose records and order, as they arrived in a URL; links to other pages
   * repeat them. Absent when they must not stand in one.
   */
  readonly filters?: readonly FormPair[];
  /**
   * Mark of the filters, the order and `size`: a cursor is good only for the query it came from.
   */
  readonly fingerprint: string;
}

/** What chooses records, in any order, and the moment that `expires-within` counts from. */
export type AskedFilters = Omit<ReportFilters, 'sort'> & Pick<ReportQuery, 'nowSeconds'>;

/** What a query is read with. */
export interface QueryContext {
  readonly limits: PageLimits;
  /** The time in UTC epoch seconds. */
  readonly now: () => number;
}
