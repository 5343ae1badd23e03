import type { SpanMemory } from '../storage/counts/span-memory.ts';
import type { WalkMemory } from '../storage/read/walk-memory.ts';
import type { Store } from '../storage/store.ts';
import type { QueryContext } from './report-query.ts';

/** What every report needs. */
export interface ReportContext extends QueryContext {
  readonly store: Store;
  /** Spans that are cached between pages. */
  readonly spans: SpanMemory;
  /** Where the next pages of walks begin. */
  readonly walks?: WalkMemory;
  /** Absolute URL of the report operation, for links to other pages. */
  readonly reportUrl: string;
}
