import { summarise } from '../storage/read/summary.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { readRevision } from '../storage/tables/tenant.ts';
import { formatSummary } from './format-summary.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { planSummary } from './plan-summary.ts';
import type { SummaryQuery } from './summary-query.ts';

/**
 * Everything that a summary depends on but the tenant and its revision: equal keys are equal
 * summaries.
 */
export function summaryKey({ nowSeconds, ...asked }: SummaryQuery): readonly unknown[] {
  return ['summary', asked, asked.expiresWithinSeconds === undefined ? undefined : nowSeconds];
}

/**
 * Answers `GET /v1/subscription/summary`: how many of the tenant's own subscriptions there are, in
 * all and by group, all counts of one moment. Fails with `StorageError` when the store is at fault.
 */
export async function getSubscriptionSummary(
  store: Store,
  tenant: TenantId,
  query: SummaryQuery,
): Promise<TimedReport> {
  const started = performance.now();
  const plan = planSummary(query);
  const planned = performance.now();
  const { revision, counts } = await store.readTenant(tenant, async (reader) => ({
    revision: await readRevision(reader),
    counts: await summarise(reader, plan),
  }));
  const ran = performance.now();
  const summary = formatSummary(query, counts);
  const timings = { plan: planned - started, run: ran - planned, format: performance.now() - ran };
  return { ...summary, revision, timings };
}
