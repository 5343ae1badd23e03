import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../auth/manage-clients.ts';
import { apiPath } from '../contract/report-paths.ts';
import { importRecords } from '../import/import-records.ts';
import { syntheticRows } from '../import/synthetic-rows.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { findClient } from '../storage/tables/client.ts';
import { findTenant, insertTenant } from '../storage/tables/tenant.ts';
import type { Config } from './config.ts';
import { ndjsonOf } from './generate-command.ts';
import { nowSeconds } from './store-session.ts';

/** Content of `demo-client.json`, for scripts. */
export interface DemoClient {
  readonly base_url: string;
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly tenant: string;
}

const demoTenant = 'demo';
const demoRows = { count: 2_000, seed: 2026 };

/**
 * Creates a tenant with synthetic subscriptions and a client, unless they exist, and writes
 * `demo-client.json` to the data directory.
 */
export async function prepareDemo(config: Config, store: Store): Promise<DemoClient> {
  const tenant = await prepareTenant(store);
  const file = join(config.DATA_DIR, 'demo-client.json');
  const credentials =
    (await readCredentials(store, file, tenant)) ?? (await createClient(store, nowSeconds(), { tenant }));
  const { publicUrl } = config;
  const demo: DemoClient = {
    base_url: `${publicUrl}${apiPath}`,
    token_url: `${publicUrl}/oauth2/token`,
    ...credentials,
    tenant,
  };
  // with PostgreSQL, nothing else creates it
  mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  chmodSync(file, 0o600); // the mode above only applies to a new file
  return demo;
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
async function readCredentials(
  store: Store,
  file: string,
  tenant: TenantId,
): Promise<Pick<DemoClient, 'client_id' | 'client_secret'> | undefined> {
  if (!existsSync(file)) return undefined;
  const { client_id, client_secret } = parseDemoClient(readFileSync(file, 'utf8'));
  if (client_id === undefined || client_secret === undefined) return undefined;
  const client = await findClient(store, client_id);
  const usable = client !== undefined && client.tenant === tenant && client.disabledAt === null;
  return usable ? { client_id, client_secret } : undefined;
}

function parseDemoClient(text: string): Partial<DemoClient> {
  try {
    return JSON.parse(text) as Partial<DemoClient>;
  } catch {
    return {}; // truncated or edited: replaced with a new client
  }
}
