import type { PageLimits } from '../contract/query.ts';
import type { Store } from '../storage/store.ts';

/** What every report is made with. */
export interface ReportContext {
  readonly store: Store;
  readonly limits: PageLimits;
  /** Absolute URL of the report operation, for links to other pages. */
  readonly reportUrl: string;
}
