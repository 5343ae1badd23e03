import { operatorScopes } from '../contract/scope.ts';
import type { Config } from './config.ts';
import { type DemoClient, demoFile } from './demo-client.ts';
import { localUrl } from './local-url.ts';
import { schemeOf } from './tls-settings.ts';

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

/** How to sign in as the operator of the demo, whose data is not that of other commands. */
const operatorText = ({ DATABASE_URL, DATA_DIR }: Config): string => `
Create a token for the operator's console and API of this demo:

  ${DATABASE_URL === undefined ? `DATA_DIR=${DATA_DIR} ` : ''}npx subreport operator create --name me --scopes ${operatorScopes.join(',')}
`;
