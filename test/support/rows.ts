import type { SubscriptionRow } from '../../src/storage/subscription-row.ts';

/** A row of the store with what matters to a test set and the rest made up; its record is not one of the contract. */
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
  return { ...row, record: given.record ?? JSON.stringify(row) };
}
