import type { SortValue } from '../../contract/query.ts';
import type { PageLimits, ReportFormat } from '../../contract/report.ts';
import type { Zone } from '../../contract/zone.ts';
import type { Moment } from '../storage/read/past.ts';
import type { RangeMemory } from '../storage/read/range-memory.ts';
import type { Store } from '../storage/store.ts';
import type { Cursor } from './cursor.ts';
import type { AskedFilters, CanonicalFilters } from './filters.ts';

export interface ReportQuery extends AskedFilters {
  readonly sort: SortValue;
  readonly size: number;
  readonly page: number;
  readonly cursor?: Cursor;
  readonly format: ReportFormat;
  /** The fields of each record: names of `recordFields` in the order of columns; all if absent. */
  readonly fields?: readonly string[] | undefined;
  /** The zone of the dates in CSV; UTC if absent. */
  readonly datesIn?: Zone | undefined;
  /** Whether to return the whole report instead of a page. */
  readonly all: boolean;
  /** The past moment of a whole report. */
  readonly asOf?: Moment | undefined;
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

/** What parsing needs. */
export interface QueryContext {
  readonly limits: PageLimits;
  /** Returns the time in UTC epoch seconds. */
  readonly now: () => number;
}

/** What every report needs. */
export interface ReportContext extends QueryContext {
  readonly store: Store;
  /** Ranges that are remembered between pages; without it, each page uses the stored counts. */
  readonly ranges?: RangeMemory;
  /** Absolute URL of the report operation, for links to other pages. */
  readonly reportUrl: string;
}
