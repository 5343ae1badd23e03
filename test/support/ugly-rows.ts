import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { subscriptionRow } from './rows.ts';

/** The values that many of the rows have. */
export const ugly = {
  /** 656 rows each: more than a page reads of one SIM without the counts. */
  iccid: '894450010000009999',
  deviceId: 'gateway',
  email: 'fleet@example.com',
  /** Whole products and part of others have it. */
  sharedPlan: 'plan-shared',
  /** Most rows of `partProduct` have another plan. */
  partProduct: 'product-b',
  /** A third of the rows were created, activated and expire in this second. */
  second: 1_700_000_100,
} as const;

const hotRows = 656;

/** Products in the order of their ids, with the plans that their rows have in turn. */
const products: readonly (readonly [id: string, ...plans: string[]])[] = [
  ['product-a', ugly.sharedPlan],
  [ugly.partProduct, ugly.sharedPlan, 'plan-b', 'plan-b'],
  ['product-c', ugly.sharedPlan],
  ['product-d', 'plan-d'],
  ['product-e', 'plan-d', ugly.sharedPlan],
  ['product-f', 'plan-b'],
];

/**
 * Rows that break what is usually so: one SIM, device and subscriber with hundreds of records, two
 * ACTIVE ones of one SIM and device, plans that products share in part, in any order, and many
 * records of one second. From 2,000 to 10,000; the same ones for the same number.
 */
export function uglyRows(count: number, prefix = 'ugly'): SubscriptionRow[] {
  const statuses = ['ACTIVE', 'DEPLETED', null, 'ACTIVE', 'EXPIRED', 'PENDING', 'LOST_IN_TRANSIT'];
  return Array.from({ length: count }, (_, index) => {
    const mixed = (index * 7_919) % 10_007;
    const [product = '', ...plans] = products[mixed % products.length] ?? [];
    const isTied = mixed % 3 === 0;
    return subscriptionRow({
      id: `${prefix}${String(mixed).padStart(5, '0')}${'='.repeat(index % 3)}`,
      createdDate: isTied ? ugly.second : 1_700_000_000 + (mixed % 211),
      activationDate: isTied ? ugly.second : 1_700_000_000 + (mixed % 7),
      expirationDate: isTied ? ugly.second : 1_710_000_000 + (mixed % 400),
      status: statuses[mixed % statuses.length] ?? null,
      productId: product,
      planId: plans[Math.floor(mixed / products.length) % plans.length] ?? '',
      autoRenew: String(mixed % 6 === 0),
      iccid: index < hotRows ? ugly.iccid : `89445001${String(mixed % 500).padStart(10, '0')}`,
      deviceId: index % 2 === 0 && index < 2 * hotRows ? ugly.deviceId : `device-${mixed % 70}`,
      email:
        index % 3 === 1 && index < 3 * hotRows ? ugly.email : mixed % 4 === 0 ? `user${mixed % 8}@example.com` : null,
    });
  });
}
