import { didYouMean } from '../contract/suggest.ts';
import type { Directory, TenantId } from '../storage/store.ts';
import { findAnyTenant, listTenants, type Tenant } from '../storage/tables/tenant.ts';
import { OperatorError } from './error.ts';

/** The tenant with this name. Throws `OperatorError` if there is none, or it is being deleted. */
export async function requireTenant(store: Directory, name: string): Promise<TenantId> {
  const { tenant, deletingSince } = await requireAnyTenant(store, name);
  if (deletingSince === null) return tenant;
  throw new OperatorError(
    'CONFLICT',
    `Cannot use the tenant: it must not be in deletion: current value is '${name}'`,
    `finish the deletion with: subreport tenant delete ${name} --yes`,
  );
}

/**
 * The tenant with this name, also while it is being deleted. Throws `OperatorError`, which suggests
 * a similar name, if there is none.
 */
export async function requireAnyTenant(store: Directory, name: string): Promise<Tenant> {
  const found = await findAnyTenant(store, name);
  if (found !== undefined) return found;
  const names = (await listTenants(store)).map(({ tenant }) => tenant);
  throw new OperatorError(
    'NOT_FOUND',
    `Cannot find the tenant: it must be in the list of tenants${didYouMean(name, names)}: current value is '${name}'`,
    `create it with: subreport tenant create ${name}`,
  );
}
