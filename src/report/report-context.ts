import type { RangeMemory } from '../storage/read/range-memory.ts';
import type { Store } from '../storage/store.ts';
import type { QueryContext } from './report-query.ts';

/** What every report needs. */
export interface ReportContext extends QueryContext {
  readonly store: Store;
  /** Ranges that are remembered between pages; without it, each page uses the stored counts. */
  readonly ranges?: RangeMemory;
  /** Absolute URL of the report operation, for links to other pages. */
  readonly reportUrl: string;
}
