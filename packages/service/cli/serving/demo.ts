import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorScopes } from '../../../contract/oauth/grant.ts';
import { apiPath } from '../../../contract/report.ts';
import { writePrivateFile } from '../../../terminal/profile.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { findClient } from '../../storage/tables/client.ts';
import { type Config, settings } from '../config.ts';
import { requireFreePort } from '../listen.ts';
import { localUrl, schemeOf } from '../settings/tls-settings.ts';

/** Creates tenants with synthetic subscriptions and a client, unless they exist. */
export async function prepareDemo(config: Config, store: Store): Promise<DemoClient> {
  // here, because `serve` without a demo needs half of these modules
  const tenant = await (await import('../store/demo-data.ts')).prepareTenants(store);
  const credentials =
    (await findDemoClient(config, store, tenant)) ??
    (await createClient(store, nowSeconds(), { tenant, name: 'Demo reports' }));
  const { publicUrl } = config;
  return {
    base_url: `${publicUrl}${apiPath}`,
    token_url: `${publicUrl}/oauth2/token`,
    ...credentials,
    tenant,
  };
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
  return client?.tenant === tenant && client.disabledAt === null ? { client_id, client_secret } : undefined;
}

/**
 * The settings of `serve --demo`. Its data is apart from the data of the service and from other
 * demos. If the default port of the operator's API is in use, as by another demo, any free port
 * takes its place.
 */
export async function demoConfig(config: Config): Promise<Config> {
  const { DATA_DIR, PORT, MANAGEMENT_HOST: host, MANAGEMENT_PORT: port } = config;
  const isDefault = port === settings.MANAGEMENT_PORT.fallback;
  const findPort = () => requireFreePort(host, port).catch(() => requireFreePort(host, 0));
  // a host that cannot be used is reported when the service listens
  const MANAGEMENT_PORT = isDefault ? await findPort().catch(() => port) : port;
  return { ...config, DATA_DIR: join(DATA_DIR, `demo-${PORT}`), MANAGEMENT_PORT };
}

export interface DemoClient {
  readonly base_url: string;
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly tenant: string;
}

export const demoFile = ({ DATA_DIR }: Config): string => join(DATA_DIR, 'demo-client.json');

/**
 * Writes `demo-client.json`, and `demo.env` with the same client as variables of programs; called
 * once the service listens at the URLs in them.
 */
export function writeDemoClient(config: Config, demo: DemoClient): void {
  writePrivateFile(demoFile(config), `${JSON.stringify(demo, null, 2)}\n`);
  const variables = {
    SUBREPORT_URL: config.publicUrl,
    SUBREPORT_CLIENT_ID: demo.client_id,
    SUBREPORT_CLIENT_SECRET: demo.client_secret,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writePrivateFile(join(config.DATA_DIR, 'demo.env'), lines.join(''));
}

/** Reads `demo-client.json`; without members if it does not exist, or is truncated or edited. */
function readDemoClient(config: Config): Partial<DemoClient> {
  try {
    return JSON.parse(readFileSync(demoFile(config), 'utf8')) as Partial<DemoClient>;
  } catch {
    return {};
  }
}

/**
 * What `serve --demo` prints on a terminal: its URLs, the client, and commands to paste into
 * another terminal.
 */
export function demoText(demo: DemoClient, config: Config): string {
  const { base_url, token_url, client_id, client_secret, tenant } = demo;
  const { publicUrl, CONSOLE, MANAGEMENT_HOST, MANAGEMENT_PORT } = config;
  const management = MANAGEMENT_PORT > 0 && localUrl(MANAGEMENT_HOST, MANAGEMENT_PORT, schemeOf(config, 'MANAGEMENT_'));
  const labels = Object.entries({
    Console: CONSOLE === 'true' && `${publicUrl}/console`,
    'API reference': `${publicUrl}/docs`,
    'Operator console': management && CONSOLE === 'true' && `${management}/console`,
    'Operator API': management && `${management}/docs`,
    'Base URL': base_url,
    'Token URL': token_url,
    'Client id': client_id,
    'Client secret': client_secret,
  }).filter(([, value]) => value !== false);
  return `
subreport is running with 2,000 synthetic subscriptions of the tenant ${tenant}. Stop it with Ctrl-C.

${labels.map(([label, value]) => `  ${label.padEnd(18)}${value}`).join('\n')}
${CONSOLE === 'true' ? consoleText(management !== false) : ''}
Read a report in another terminal, in this folder:

  npx subreport login --profile demo --credentials ${demoFile(config)}
  npx subreport list --profile demo

or with curl:

  TOKEN=$(curl -s ${token_url} -d grant_type=client_credentials \\
    -d client_id=${client_id} -d client_secret=${client_secret} \\
    | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -i -H "Authorization: Bearer $TOKEN" '${base_url}/v1/subscription?size=2'
${management === false ? '' : operatorText(config)}`;
}

const consoleText = (hasOperator: boolean): string => `
What to look at:

  Overview           what ends this week; as of a day of the last month, too
  Changes, Findings  a month of imports, and one more every half minute; what the records contradict
${hasOperator ? '  Operator console   the tenant demo-partner, whose import failed; the client whose old secret ends soon\n' : ''}`;

/** How to sign in as the operator of the demo, whose data is not that of other commands. */
const operatorText = ({ DATABASE_URL, DATA_DIR }: Config): string => `
Create a token for the operator's console and API of this demo:

  ${DATABASE_URL === undefined ? `DATA_DIR=${DATA_DIR} ` : ''}npx subreport operator create --name me --scopes ${operatorScopes.join(',')}
`;
