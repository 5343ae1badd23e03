import { formatInstant } from '../contract/instant.ts';
import type { Tenant } from '../contract/operator-tenant.ts';
import { describeLastImport } from './describe-import.ts';
import type { CountedTenant } from './tenants.ts';
import { timeOf } from './time-of.ts';

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
