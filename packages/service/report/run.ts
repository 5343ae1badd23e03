import { type PageContext, readPage } from '../storage/read/page.ts';
import type { PageRecords } from '../storage/read/page-sql.ts';
import type { TenantId } from '../storage/store.ts';
import type { Layout } from '../storage/utf8-column.ts';
import type { ReportPlan } from './plan.ts';

/** One page and the total, from one snapshot. */
export interface ReportPage {
  readonly records: PageRecords;
  /** Number of records that match the filter, on all pages. */
  readonly total: number;
  /** Whether records follow this page, and whether there are records before it. */
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  /** The tenant's revision in that snapshot. */
  readonly revision: number;
  /** Why no record matches, if that is known. */
  readonly explanation?: string | undefined;
}

/** Reads the page of a plan. No other stage accesses the store. */
export async function runReport(
  context: PageContext,
  tenant: TenantId,
  plan: ReportPlan,
  layout: Layout,
): Promise<ReportPage> {
  const page = await readPage(context, tenant, { ...plan, layout });
  const { position, size } = plan;
  const { records, total, isBeyondKey, hasMore, revision } = page;
  const around = (hasNext: boolean, hasPrevious: boolean): ReportPage => ({
    records,
    total,
    revision,
    hasNext,
    hasPrevious,
  });
  switch (position.kind) {
    case 'before':
      return around(isBeyondKey, hasMore);
    case 'after':
      return around(hasMore, isBeyondKey);
    case 'offset':
      // the page before this one has a record
      return around(hasMore, position.skip > 0 && position.skip - size < total);
  }
}
