/** An index, and a request that needs it. */
export interface IndexCase {
  readonly index: string;
  /** The statement that creates it, if it is not part of the schema: a larger or a dropped one. */
  readonly alternative?: string;
  /** A query of the report, or `changes` for the changes after some of them. */
  readonly query: string;
}

const on = 'on subscription (tenant_id,';

/**
 * Products and plans are those of the synthetic data, as is the SIM; of a subscriber, twelve
 * subscriptions.
 */
const product = 'product-id=cHJvZHVjdC0wLTA';
const plan = 'plan-id=cGxhbi0w';
const iccid = 'iccid=8944500010000000000';
const email = 'email=user0@example.com';
const device = 'device-id=device-000000';

/** The indexes of the schema. */
export const kept: readonly IndexCase[] = [
  { index: 'subscription_created', query: 'page=100' },
  { index: 'subscription_created', query: plan },
  { index: 'subscription_created', query: 'auto-renew=true' },
  { index: 'subscription_activation', query: 'sort=activationDate' },
  { index: 'subscription_expiration', query: 'sort=expirationDate&expires-within=30d' },
  { index: 'subscription_status', query: 'status=PENDING' },
  { index: 'subscription_product', query: product },
  { index: 'subscription_product', query: `${product}&status=ACTIVE` },
  { index: 'subscription_iccid', query: iccid },
  { index: 'subscription_device', query: device },
  { index: 'subscription_email', query: email },
  { index: 'subscription_revision', query: 'changes' },
];

/** Indexes that the schema once had. */
export const dropped: readonly IndexCase[] = [
  { index: 'former_plan', alternative: `${on} plan_id, created_date, id)`, query: plan },
  { index: 'former_auto_renew', alternative: `${on} auto_renew, created_date, id)`, query: 'auto-renew=true' },
  {
    index: 'former_product_status',
    alternative: `${on} product_id, status, created_date, id)`,
    query: `${product}&status=ACTIVE`,
  },
  { index: 'former_iccid', alternative: `${on} iccid, created_date, id)`, query: iccid },
  { index: 'former_device', alternative: `${on} device_id, created_date, id)`, query: device },
  { index: 'former_email', alternative: `${on} email, created_date, id) where email is not null`, query: email },
];
