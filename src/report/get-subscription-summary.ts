import { summarise } from '../storage/read/summary.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { readRevision } from '../storage/tables/tenant.ts';
import { formatSummary } from './format-summary.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { planSummary } from './plan-summary.ts';
import { startStages } from './stage-timer.ts';
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
  const stages = startStages();
  const plan = planSummary(query);
  stages.end('plan');
  const { revision, counts } = await store.readTenant(tenant, async (reader) => ({
    revision: await readRevision(reader),
    counts: await summarise(reader, plan),
  }));
  stages.end('run');
  const summary = formatSummary(query, counts);
  stages.end('format');
  return { ...summary, revision, timings: stages.timings };
}
