import { summarise } from '../storage/read/summary.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { readRevision } from '../storage/tables/tenant.ts';
import { formatSummary } from './format-summary.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { planSummary } from './plan-summary.ts';
import { startStages } from './stage-timer.ts';
import type { SummaryQuery } from './summary-query.ts';

/** The cache key of a summary, apart from the tenant and its revision. */
export function summaryKey({ nowSeconds, ...asked }: SummaryQuery): readonly unknown[] {
  return ['summary', asked, asked.expiresWithinSeconds === undefined ? undefined : nowSeconds];
}

/**
 * Implements `GET /v1/subscription/summary`: counts the tenant's subscriptions, in total and by
 * dimension, all in one snapshot. Throws `StorageError` if the store fails.
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
