import { formatInstant } from '../contract/instant.ts';
import type { Tenant } from '../contract/operator/tenant.ts';
import type { LatestImport } from '../storage/tables/import-history.ts';
import type { Tenant as TenantRow } from '../storage/tables/tenant.ts';
import { describeLastImport } from './describe-import.ts';
import { timeOf } from './time-of.ts';

/** A tenant with the number of its records and its newest import. */
export type CountedTenant = TenantRow & { readonly records: number; readonly latest: LatestImport | undefined };

/** A tenant as the API and the commands show it. */
export const describeTenant = ({
  tenant,
  createdAt,
  revision,
  deletingSince,
  records,
  latest,
}: CountedTenant): Tenant => ({
  tenant,
  created_at: formatInstant(createdAt),
  records,
  revision,
  deleting_since: timeOf(deletingSince),
  last_import: latest?.last == null ? null : describeLastImport(latest.last),
  last_good_import_at: timeOf(latest?.goodAt ?? null),
});
