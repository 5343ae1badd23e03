import { createClient } from '../auth/manage-clients.ts';
import { apiPath } from '../contract/report-paths.ts';
import { importRecords } from '../import/import-records.ts';
import { syntheticRows } from '../import/synthetic-rows.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { findClient } from '../storage/tables/client.ts';
import { findTenant, insertTenant } from '../storage/tables/tenant.ts';
import type { Config } from './config.ts';
import { type DemoClient, readDemoClient } from './demo-client.ts';
import { ndjsonOf } from './generate-command.ts';
import { nowSeconds } from './store-session.ts';

const demoTenant = 'demo';
const demoRows = { count: 2_000, seed: 2026 };

/** Creates a tenant with synthetic subscriptions and a client, unless they exist. */
export async function prepareDemo(config: Config, store: Store): Promise<DemoClient> {
  const tenant = await prepareTenant(store);
  const credentials =
    (await findDemoClient(config, store, tenant)) ?? (await createClient(store, nowSeconds(), { tenant }));
  const { publicUrl } = config;
  return {
    base_url: `${publicUrl}${apiPath}`,
    token_url: `${publicUrl}/oauth2/token`,
    ...credentials,
    tenant,
  };
}

async function prepareTenant(store: Store): Promise<TenantId> {
  const created = await insertTenant(store, demoTenant, nowSeconds());
  const found = await findTenant(store, demoTenant);
  if (found === undefined) throw new TypeError('Cannot prepare the demo: the tenant must exist once it was inserted');
  if (created || found.revision === 0) {
    const rows = syntheticRows({ ...demoRows, until: nowSeconds() });
    const onRejected = ({ errors }: { errors: unknown }): never => {
      throw new TypeError(`Cannot prepare the demo: synthetic rows must fit the contract: ${JSON.stringify(errors)}`);
    };
    await importRecords(store, found.tenant, ndjsonOf(rows), { format: 'ndjson', dryRun: false, onRejected });
  }
  return found.tenant;
}

/** Returns the client of an earlier start if the file and the store still agree. */
async function findDemoClient(
  config: Config,
  store: Store,
  tenant: TenantId,
): Promise<Pick<DemoClient, 'client_id' | 'client_secret'> | undefined> {
  const { client_id, client_secret } = readDemoClient(config);
  if (client_id === undefined || client_secret === undefined) return undefined;
  const client = await findClient(store, client_id);
  const usable = client !== undefined && client.tenant === tenant && client.disabledAt === null;
  return usable ? { client_id, client_secret } : undefined;
}
