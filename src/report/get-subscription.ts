import { fitsText } from '../contract/schema.ts';
import { SubscriptionId } from '../contract/subscription.ts';
import { readRecord } from '../storage/read/records.ts';
import type { TenantId } from '../storage/store.ts';
import { readRevision } from '../storage/tables/tenant.ts';
import { inSpan } from '../tracing/span.ts';
import { ReportError } from './error.ts';
import type { ReportContext } from './report-query.ts';

/** One record, and the tenant's revision at which it was read. */
interface OneSubscription {
  /** Its stored JSON. */
  readonly record: string;
  readonly revision: number;
}

/**
 * Implements `GET /v1/subscription/{id}`: returns the stored JSON of one record. Throws
 * `ReportError` `NOT_FOUND`, the same for an unknown id and for another tenant's.
 */
export async function getSubscription(
  { store }: ReportContext,
  tenant: TenantId,
  id: string,
): Promise<OneSubscription> {
  const [record, revision] = fitsText(SubscriptionId, id)
    ? await inSpan('run', () =>
        store.readTenant(tenant, (reader) => Promise.all([readRecord(reader, id), readRevision(reader)]), {
          isBounded: true,
        }),
      )
    : [undefined, 0];
  if (record === undefined) {
    throw new ReportError('NOT_FOUND', [
      'Cannot find the subscription: its id must be that of one of your subscriptions',
    ]);
  }
  return { record, revision };
}
