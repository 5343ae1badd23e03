import { summarise } from '../storage/read/summary.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { readRevision } from '../storage/tables/tenant.ts';
import { formatSummary } from './format-summary.ts';
import type { TimedReport } from './list-subscriptions.ts';
import { planSummary } from './plan-summary.ts';
import { createStages, type StageTimer } from './stage-timer.ts';
import type { SummaryQuery } from './summary-query.ts';

/** The cache key of a summary, apart from the tenant and its revision. */
export function summaryKey({ nowSeconds, ...asked }: SummaryQuery): string {
  return JSON.stringify(['summary', asked, asked.expiresWithinSeconds === undefined ? undefined : nowSeconds]);
}

/**
 * Implements `GET /v1/subscription/summary`: counts the tenant's subscriptions, in total and by
 * dimension, all in one snapshot. Throws `StorageError` if the store fails.
 */
export async function getSubscriptionSummary(
  store: Store,
  tenant: TenantId,
  query: SummaryQuery,
  stages: StageTimer = createStages(),
): Promise<TimedReport> {
  const plan = stages.run('plan', () => planSummary(query));
  const { revision, counts } = await stages.run('run', () =>
    store.readTenant(tenant, async (reader) => ({
      revision: await readRevision(reader),
      counts: await summarise(reader, plan),
    })),
  );
  const summary = stages.run('format', () => formatSummary(query, counts));
  return { ...summary, revision, timings: stages.timings };
}
