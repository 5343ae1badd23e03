import { subscriptionRow } from '../../../../test/support/rows.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';

/** Which record, and which of its five texts. */
export interface VersionOf {
  readonly n: number;
  readonly version: number;
}

/** The version whose SIM is `adasSim` has an address. */
const adasVersion = 3;
const adasEmail = 'ada@example.com';
export const adasSim = '8944500102198300003';
export const idOf = (n: number): string => `id${n}`;
export const daySeconds = 86_400;
export const countVersions = 'select count(*) as n from subscription_version where tenant_id = $1';

export function rowOf({ n, version }: VersionOf): SubscriptionRow {
  const row = subscriptionRow({
    id: idOf(n),
    createdDate: (n % 5) * daySeconds + (version === 4 ? 7 : 0),
    expirationDate: 1_800_000_000 + version,
    status: [null, 'ACTIVE', 'DEPLETED', 'ACTIVE', 'ACTIVE'][version] ?? null,
    productId: `product-${version % 2}`,
    planId: `plan-${n % 3}`,
    email: version === adasVersion ? adasEmail : null,
    ...(version === adasVersion && { iccid: adasSim }),
  });
  return { ...row, record: row.record.replace('Europe 1 GB', `${'日本'.repeat(20)} ${version} GB`) };
}

export async function replaceAll(store: Store, tenant: TenantId, records: readonly VersionOf[]): Promise<void> {
  const replacement = await store.openStagedLoad(tenant);
  await replacement.add(records.map(rowOf));
  await replacement.finish(false);
  await replacement.close();
}
