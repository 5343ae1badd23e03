import { fitsText } from '../contract/schema.ts';
import { SubscriptionId } from '../contract/subscription.ts';
import type { TenantId } from '../storage/store.ts';
import { readRecord } from '../storage/subscription-page.ts';
import { ReportError } from './error.ts';
import { parseNoParameters } from './parse.ts';
import type { ReportContext } from './report-context.ts';

/**
 * Answers `GET /v1/subscription/{id}`: the finished text of one record. Another tenant's id and one that nobody has are told the same: `ReportError`
 * `NOT_FOUND`.
 */
export async function getSubscription(
  { store }: ReportContext,
  tenant: TenantId,
  id: string,
  queryString: string,
): Promise<string> {
  parseNoParameters(queryString);
  const record = fitsText(SubscriptionId, id)
    ? await store.readTenant(tenant, (reader) => readRecord(reader, id))
    : undefined;
  if (record === undefined) {
    throw new ReportError('NOT_FOUND', ['Cannot find the subscription: its id must be one of your own subscriptions']);
  }
  return record;
}
