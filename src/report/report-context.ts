import type { SpanMemory } from '../storage/counts/span-memory.ts';
import type { Store } from '../storage/store.ts';
import type { QueryContext } from './report-query.ts';

/** What every report needs. */
export interface ReportContext extends QueryContext {
  readonly store: Store;
  /** Spans that are cached between pages. */
  readonly spans: SpanMemory;
  /** Absolute URL of the report operation, for links to other pages. */
  readonly reportUrl: string;
}
