import { formatInstant } from '../../packages/contract/instant.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';

/** A row of the store with the given values and defaults; its record matches its columns. */
export function subscriptionRow(given: Partial<SubscriptionRow> & { readonly id: string }): SubscriptionRow {
  const row = {
    createdDate: 1_700_000_000,
    activationDate: 1_700_000_010,
    expirationDate: 1_702_592_010,
    status: 'ACTIVE',
    productId: 'product-1',
    planId: 'plan-1',
    iccid: '8944500102198304826',
    deviceId: 'device-1',
    autoRenew: 'true',
    email: null,
    ...given,
  };
  return { ...row, record: given.record ?? recordOf(row) };
}

/** The JSON of a record, in the order of the contract. */
function recordOf(row: Omit<SubscriptionRow, 'record'>): string {
  const { id, status, createdDate, activationDate, expirationDate, productId, planId, iccid, deviceId, autoRenew } =
    row;
  return JSON.stringify({
    id,
    status: status ?? undefined,
    activationDate: formatInstant(activationDate),
    expirationDate: formatInstant(expirationDate),
    createdDate: formatInstant(createdDate),
    product: { id: productId, name: 'Europe 1 GB', period: 30, period_unit: 'DAYS', plan_id: planId },
    iccid,
    device_id: deviceId,
    auto_renew: autoRenew,
  });
}
