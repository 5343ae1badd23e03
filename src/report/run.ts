import { type PageContext, readPage } from '../storage/read/page.ts';
import type { PageRecord } from '../storage/read/page-sql.ts';
import type { TenantId } from '../storage/store.ts';
import type { ReportPlan } from './plan.ts';

/** One page as it was at one moment of the store, with the total of that moment. */
export interface ReportPage {
  readonly records: readonly PageRecord[];
  /** All records that the filter lets through, on all pages. */
  readonly total: number;
  /** Whether the report goes on after this page, and whether it has something before it. */
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  /** The tenant's revision at that moment. */
  readonly revision: number;
}

/** Reads the page that a plan asks for. The only stage that asks the store. */
export async function runReport(context: PageContext, tenant: TenantId, plan: ReportPlan): Promise<ReportPage> {
  const { filter, order, position, size } = plan;
  // one more, to learn whether the report goes on
  const page = await readPage(context, tenant, filter, order, position, size + 1);
  const { records, total, isBeyondKey, revision } = page;
  const isMore = records.length > size;
  switch (position.kind) {
    case 'before':
      return { records: records.slice(-size), total, revision, hasNext: isBeyondKey, hasPrevious: isMore };
    case 'after':
      return { records: records.slice(0, size), total, revision, hasNext: isMore, hasPrevious: isBeyondKey };
    case 'offset': {
      // the page before this one holds a record
      const hasPrevious = position.skip > 0 && position.skip - size < total;
      return { records: records.slice(0, size), total, revision, hasNext: isMore, hasPrevious };
    }
  }
}
