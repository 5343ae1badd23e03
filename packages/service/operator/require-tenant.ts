import { savedMapping } from '../../contract/load.ts';
import { didYouMean } from '../../contract/suggest.ts';
import { MappingError, parseMapping } from '../import/column-mapping.ts';
import type { ColumnMapping } from '../import/csv-layout.ts';
import type { Directory, TenantId } from '../storage/store.ts';
import { findAnyTenant, listNamesNear, type Tenant as TenantRow } from '../storage/tables/tenant.ts';
import { OperatorError } from './error.ts';

/** What to do without a tenant: `add` if the action would add something to it. */
const nextWithout = {
  add: (name: string) => `create it with: subreport tenant create ${name}`,
  read: () => 'list the tenants with: subreport tenant list',
} as const;

/** The tenant with this name. Throws `OperatorError` if there is none, or it is being deleted. */
export async function requireTenant(
  store: Directory,
  name: string,
  use: keyof typeof nextWithout = 'read',
): Promise<TenantId> {
  const { tenant, deletingSince } = await requireAnyTenant(store, name, use);
  if (deletingSince === null) return tenant;
  throw new OperatorError(
    'CONFLICT',
    `Cannot use the tenant: it must not be in deletion: current value is '${name}'`,
    `finish the deletion with: subreport tenant delete ${name} --yes`,
  );
}

/** Names on each side, in the order of names, that a misspelled one is compared with. */
const namesNear = 100;

/**
 * The tenant with this name, also while it is being deleted. Throws `OperatorError`, which suggests
 * a similar name, if there is none.
 */
export async function requireAnyTenant(
  store: Directory,
  name: string,
  use: keyof typeof nextWithout = 'read',
): Promise<TenantRow> {
  const found = await findAnyTenant(store, name);
  if (found !== undefined) return found;
  const names = await listNamesNear(store, name, namesNear);
  throw new OperatorError(
    'NOT_FOUND',
    `Cannot find the tenant: it must be in the list of tenants${didYouMean(name, names)}: current value is '${name}'`,
    nextWithout[use](name),
  );
}

/** The mapping that an import is given, or the saved one. Throws `OperatorError` without one. */
export async function resolveMapping(
  directory: Directory,
  name: string,
  mapping: ColumnMapping | typeof savedMapping | undefined,
): Promise<ColumnMapping | undefined> {
  if (mapping !== savedMapping) return mapping;
  const { columns = null } = (await findAnyTenant(directory, name)) ?? {};
  if (columns !== null) return readMapping(columns);
  throw new OperatorError(
    'INVALID',
    `Cannot use the saved mapping of columns: the tenant must have one: current value is none for '${name}'`,
    `save it with: subreport tenant map-columns ${name} FILE`,
  );
}

/** Parses a mapping of columns; throws `OperatorError` if it cannot be used. */
export function readMapping(text: string): ColumnMapping {
  try {
    return parseMapping(text);
  } catch (error) {
    if (error instanceof MappingError) throw new OperatorError('INVALID', error.message);
    throw error;
  }
}
