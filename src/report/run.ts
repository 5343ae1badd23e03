import { type PageContext, readPage } from '../storage/read/page.ts';
import type { PageRecord } from '../storage/read/page-sql.ts';
import type { TenantId } from '../storage/store.ts';
import type { ReportPlan } from './plan.ts';

/** One page and the total, from one snapshot. */
export interface ReportPage {
  readonly records: readonly PageRecord[];
  /** Number of records that match the filter, on all pages. */
  readonly total: number;
  /** Whether records follow this page, and whether there are records before it. */
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  /** The tenant's revision in that snapshot. */
  readonly revision: number;
}

/** Reads the page of a plan. No other stage accesses the store. */
export async function runReport(context: PageContext, tenant: TenantId, plan: ReportPlan): Promise<ReportPage> {
  const { filter, order, position, size } = plan;
  // one more than the page, to learn whether records follow
  const page = await readPage(context, tenant, filter, order, position, size + 1);
  const { records, total, isBeyondKey, revision } = page;
  const isMore = records.length > size;
  switch (position.kind) {
    case 'before':
      return { records: records.slice(-size), total, revision, hasNext: isBeyondKey, hasPrevious: isMore };
    case 'after':
      return { records: records.slice(0, size), total, revision, hasNext: isMore, hasPrevious: isBeyondKey };
    case 'offset': {
      // the page before this one has a record
      const hasPrevious = position.skip > 0 && position.skip - size < total;
      return { records: records.slice(0, size), total, revision, hasNext: isMore, hasPrevious };
    }
  }
}
