import type { Store } from '../storage/store.ts';
import type { QueryContext } from './report-query.ts';

/** What every report is made with. */
export interface ReportContext extends QueryContext {
  readonly store: Store;
  /** Absolute URL of the report operation, for links to other pages. */
  readonly reportUrl: string;
}
