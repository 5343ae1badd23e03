import { pageAtOnce, readDescription, toPageAtOnce } from '../storage/page-at-once.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { type PageRecord, readPage } from '../storage/subscription-page.ts';
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

/** Reads the page that a plan asks for, by two statements unless its place must be found first. The only stage that asks the store. */
export async function runReport(store: Store, tenant: TenantId, plan: ReportPlan): Promise<ReportPage> {
  const { filter, order, position, size } = plan;
  const statements = pageAtOnce(filter, order, position, size + 1); // one more, to learn whether the report goes on
  if (statements === undefined) return readDeepPage(store, tenant, plan);
  const answers = await store.readTenantOnce(tenant, statements);
  const { records, isBeyondKey, total, revision } = toPageAtOnce(
    answers.map(([row]) => row),
    position,
  );
  const isMore = records.length > size;
  switch (position.kind) {
    case 'before':
      return { records: records.slice(-size), total, revision, hasNext: isBeyondKey, hasPrevious: isMore };
    case 'after':
      return { records: records.slice(0, size), total, revision, hasNext: isMore, hasPrevious: isBeyondKey };
    case 'offset': {
      const hasPrevious = hasRecordsBefore(position.skip, plan, total);
      return { records: records.slice(0, size), total, revision, hasNext: isMore, hasPrevious };
    }
  }
}

/** A page whose first record is found by the kept counts. */
function readDeepPage(store: Store, tenant: TenantId, plan: ReportPlan): Promise<ReportPage> {
  const { filter, order, position, size } = plan;
  return store.readTenant(tenant, async (reader) => {
    const range = readDescription(reader, filter);
    const page = readPage(reader, filter, order, position, size + 1, { range, isLast: true });
    const [{ revision, total }, records] = await Promise.all([range, page]);
    const hasPrevious = position.kind === 'offset' && hasRecordsBefore(position.skip, plan, total);
    return { records: records.slice(0, size), total, revision, hasNext: records.length > size, hasPrevious };
  });
}

/** Whether the page before one by its number holds a record. */
const hasRecordsBefore = (skip: number, { size }: ReportPlan, total: number): boolean =>
  skip > 0 && skip - size < total;
