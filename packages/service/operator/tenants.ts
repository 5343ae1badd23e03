import { randomBytes } from 'node:crypto';
import { formatInstant, timeOf } from '../../contract/instant.ts';
import { type Tenant as TenantBody, tenantName } from '../../contract/operator/tenant.ts';
import { fitsText, ruleOf } from '../../contract/schema.ts';
import type { ColumnMapping } from '../import/csv-layout.ts';
import { deleteTenant as deleteTenantData } from '../import/erase-records.ts';
import { countRecords } from '../storage/counts/range.ts';
import type { Store } from '../storage/store.ts';
import { type LatestImport, listLatestImports } from '../storage/tables/import-history.ts';
import {
  insertTenant,
  listTenants as readTenants,
  setColumnsStatement,
  type Tenant as TenantRow,
} from '../storage/tables/tenant.ts';
import { OperatorError } from './error.ts';
import { describeLastImport, interruptDead } from './imports.ts';
import { type OperatorContext, perform, performInSteps } from './perform.ts';
import { readMapping, requireAnyTenant, requireTenant } from './require-tenant.ts';

/** Creates a tenant, by default with a generated name. Throws `OperatorError` if it is in use. */
export function createTenant(context: OperatorContext, name?: string): Promise<TenantBody> {
  const tenant = name ?? `tenant-${randomBytes(6).toString('hex')}`;
  return perform(context, { name: 'tenant.create', target: { tenant } }, async (directory) => {
    if (!fitsText(tenantName, tenant)) {
      throw new OperatorError(
        'INVALID',
        `Cannot create the tenant: its name must be ${ruleOf(tenantName)}: current value is '${tenant}'`,
      );
    }
    const isNew = await insertTenant(directory, tenant, context.now());
    const found = await requireAnyTenant(directory, tenant);
    const bytesMax = context.store.tenantBytesMax;
    if (isNew) return describeTenant({ ...found, records: 0, latest: undefined, bytesMax });
    throw new OperatorError(
      'CONFLICT',
      `Cannot create the tenant: its name must not be in use: current value is '${tenant}', created at ${formatInstant(found.createdAt)}`,
    );
  });
}

/** Number of tenants that are counted at the same time: fewer than a pool has connections. */
const countedTogether = 4;

/** Up to `limit` tenants by name after the name `after`, including those being deleted. */
export async function listTenants(
  { store }: Pick<OperatorContext, 'store'>,
  after: string,
  limit: number,
): Promise<readonly CountedTenant[]> {
  const tenants = await readTenants(store, after, limit);
  const counted: CountedTenant[] = [];
  const latest = await readLatest(store, tenants.at(0)?.tenant, tenants.at(-1)?.tenant);
  for (let start = 0; start < tenants.length; start += countedTogether) {
    const part = tenants.slice(start, start + countedTogether);
    counted.push(...(await Promise.all(part.map((tenant) => count(store, tenant, latest)))));
  }
  return counted;
}

/** One tenant, also while it is being deleted. */
export const showTenant = async ({ store }: Pick<OperatorContext, 'store'>, name: string): Promise<CountedTenant> =>
  count(store, await requireAnyTenant(store, name), await readLatest(store, name, name));

/** The newest imports of the tenants whose names are from `first` to `last`, by name. */
async function readLatest(store: Store, first = '', last = ''): Promise<ReadonlyMap<string, LatestImport>> {
  const read = () => listLatestImports(store, first, last);
  const rows = await read();
  const listed = rows.map(({ tenant, last }) => ({ tenant, result: last?.result ?? null }));
  const current = (await interruptDead(store, listed)) ? await read() : rows;
  return new Map(current.map((row) => [row.tenant, row]));
}

/**
 * Deletes a tenant: first its clients, then its records. If that is interrupted, call it again.
 * Throws `ImportError` `BUSY` while an import into the tenant, or another deletion of it, runs.
 */
export function deleteTenant(context: OperatorContext, name: string) {
  const work = async () => {
    const { tenant } = await requireAnyTenant(context.store, name);
    return { tenant: name, deleted: true, ...(await deleteTenantData(context.store, tenant, context.now)) };
  };
  return performInSteps(
    context,
    {
      name: 'tenant.delete',
      target: { tenant: name },
      detailsOf: ({ clients, rows }) => ({ clients, rows }),
    },
    work,
  );
}

/**
 * Saves a mapping of columns, given as JSON, for the imports of a tenant; an empty one removes
 * it. Throws `OperatorError` if it cannot be used.
 */
export async function saveColumns(context: OperatorContext, name: string, text: string): Promise<TenantBody> {
  await perform(
    context,
    {
      name: 'tenant.map-columns',
      target: { tenant: name },
      detailsOf: ({ columns, constants, values = {} }: ColumnMapping) => ({
        columns: Object.keys(columns),
        constants: Object.keys(constants),
        values: Object.keys(values),
      }),
    },
    async (directory) => {
      const mapping = readMapping(text);
      const isEmpty = Object.values(mapping).every((part) => Object.keys(part).length === 0);
      const tenant = await requireTenant(directory, name, 'add');
      await directory.writeDirectory([setColumnsStatement(tenant, isEmpty ? null : JSON.stringify(mapping))]);
      return mapping;
    },
  );
  return describeTenant(await showTenant(context, name));
}

const count = async (
  store: Store,
  tenant: TenantRow,
  latest: ReadonlyMap<string, LatestImport>,
): Promise<CountedTenant> => ({
  ...tenant,
  records: await countRecords(store, tenant.tenant),
  latest: latest.get(tenant.tenant),
  bytesMax: store.tenantBytesMax,
});

type CountedTenant = TenantRow & {
  readonly records: number;
  readonly latest: LatestImport | undefined;
  /** The storage budget in bytes; 0 means no limit. */
  readonly bytesMax: number;
};

/** A tenant as the API and the commands show it. */
export const describeTenant = ({
  tenant,
  createdAt,
  revision,
  deletingSince,
  records,
  latest,
  columns,
  chargedBytes,
  bytesMax,
}: CountedTenant): TenantBody => ({
  tenant,
  created_at: formatInstant(createdAt),
  records,
  revision,
  deleting_since: timeOf(deletingSince),
  last_import: latest?.last == null ? null : describeLastImport(latest.last),
  last_good_import_at: timeOf(latest?.goodAt ?? null),
  columns,
  storage: { total: chargedBytes, budget: bytesMax === 0 ? null : bytesMax },
});
