import type { Store, TenantId, TenantReader } from '../storage/store.ts';
import { type PageRecord, readPage } from '../storage/subscription-page.ts';
import { type FilterRange, readRange } from '../storage/subscription-rank.ts';
import { readRevision } from '../storage/tenant.ts';
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
export function runReport(store: Store, tenant: TenantId, plan: ReportPlan): Promise<ReportPage> {
  return store.readTenant(tenant, async (reader) => {
    const [revision, page] = await Promise.all([readRevision(reader), readReport(reader, plan)]);
    return { ...page, revision };
  });
}

async function readReport(reader: TenantReader, plan: ReportPlan): Promise<Omit<ReportPage, 'revision'>> {
  const range = readRange(reader, plan.filter);
  const [{ total }, page] = await Promise.all([range, readOneMore(reader, plan, range)]);
  const records = page.slice(0, plan.size);
  const more = page.length > plan.size;
  if (plan.position.kind === 'before') {
    return {
      records: page.slice(-plan.size),
      total,
      hasNext: await continues(reader, plan, records.at(-1), 'after', total),
      hasPrevious: more,
    };
  }
  const hasPrevious =
    plan.position.kind === 'offset'
      ? plan.position.skip > 0 && plan.position.skip - plan.size < total
      : await continues(reader, plan, records[0], 'before', total);
  return { records, total, hasNext: more, hasPrevious };
}

/** One record more than the page holds, to learn whether the report goes on. */
function readOneMore(
  reader: TenantReader,
  { filter, order, position, size }: ReportPlan,
  range: Promise<FilterRange>,
): Promise<readonly PageRecord[]> {
  return readPage(reader, filter, order, position, size + 1, range);
}

/** Whether there is a record beyond one edge of the page; when the page is empty, every record there is lies on that side. */
async function continues(
  reader: TenantReader,
  { filter, order }: ReportPlan,
  edge: PageRecord | undefined,
  kind: 'after' | 'before',
  total: number,
): Promise<boolean> {
  if (edge === undefined) return total > 0;
  return (await readPage(reader, filter, order, { kind, key: edge }, 1)).length > 0;
}
