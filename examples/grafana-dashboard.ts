// Writes a Grafana dashboard of your subscriptions, with its data source, to a folder, and tries
// the query of each panel.
//
//   node grafana-dashboard.ts FOLDER
//
// Copy the folder to /etc/grafana/provisioning, and restart Grafana with the plugin Infinity and
// the secret in SUBREPORT_CLIENT_SECRET. The secret is not written.
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET
// Exit code: 0 written, 1 failed, 2 wrong usage
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, SubreportError, type SubscriptionFilters } from '@subreport/client';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
const [folder] = process.argv.slice(2);
if (!url || !clientId || !clientSecret || !folder) {
  console.error(
    'Usage: node grafana-dashboard.ts FOLDER, with SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET',
  );
  process.exit(2);
}

const tokenUrl = `${url}/oauth2/token`;
const client = createClient({ baseUrl: `${url}/connect-api`, tokenUrl, clientId, clientSecret });
const source = { type: 'yesoreyeram-infinity-datasource', uid: 'subreport' };
/** What Grafana replaces by the range of the dashboard, which may have at most 366 days. */
const range = `&created-from=\${__from:date:iso}&created-to=\${__to:date:iso}`;

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly query: SubscriptionFilters & { readonly by?: 'status' | 'product-id' | 'day' };
  readonly label?: 'value' | 'name';
}

const panels: readonly Panel[] = [
  { title: 'By status', type: 'piechart', query: { by: 'status' } },
  { title: 'Active by product', type: 'barchart', query: { by: 'product-id', status: 'ACTIVE' }, label: 'name' },
  { title: 'Created per day', type: 'timeseries', query: { by: 'day' } },
  { title: 'Ending within 7 days, not renewing', type: 'stat', query: { 'expires-within': '7d', 'auto-renew': false } },
];

function panelOf({ title, type, query, label = 'value' }: Panel, index: number) {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const labelType = query.by === 'day' ? 'timestamp' : 'string';
  const columns = query.by ? [{ selector: label, text: label, type: labelType }] : [];
  const target = {
    ...{ refId: 'A', datasource: source, type: 'json', source: 'url', parser: 'backend', format: 'table' },
    url: `${url}/connect-api/v1/subscription/summary?${search}${query.by === 'day' ? range : ''}`,
    url_options: { method: 'GET' },
    root_selector: query.by ? `by.${query.by}` : '',
    columns: [...columns, { selector: query.by ? 'count' : 'total', text: 'count', type: 'number' }],
  };
  const gridPos = { x: (index % 2) * 12, y: Math.floor(index / 2) * 8, w: 12, h: 8 };
  return { id: index + 1, title, type, datasource: source, gridPos, targets: [target], options: optionsOf(type) };
}

/** Panels of these types show one figure of all rows unless they are told to show each. */
const optionsOf = (type: string) =>
  type === 'piechart' ? { reduceOptions: { values: true }, legend: { displayMode: 'list', placement: 'right' } } : {};

const dataSource = `apiVersion: 1
datasources:
  - name: subreport
    uid: subreport
    type: ${source.type}
    jsonData:
      auth_method: oauth2
      oauth2:
        oauth2_type: client_credentials
        client_id: ${JSON.stringify(clientId)}
        token_url: ${JSON.stringify(tokenUrl)}
      allowedHosts: [${JSON.stringify(url)}]
    secureJsonData:
      oauth2ClientSecret: $SUBREPORT_CLIENT_SECRET
`;
const provider = `apiVersion: 1
providers:
  - name: subreport
    options:
      path: /etc/grafana/provisioning/dashboards
`;

try {
  const now = Date.now();
  const lastMonth = { 'created-from': new Date(now - 30 * 86_400_000), 'created-to': new Date(now) };
  for (const { title, query } of panels) {
    const { total, by } = await client.summary({ ...query, ...(query.by === 'day' && lastMonth) });
    const rows = query.by && by[query.by];
    console.log(`${title}: ${rows ? `${rows.length} rows, ` : ''}${total} subscriptions`);
  }
  for (const name of ['datasources', 'dashboards']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'datasources/subreport.yaml'), dataSource);
  await writeFile(join(folder, 'dashboards/subreport.yaml'), provider);
  const dashboard = { uid: 'subreport', title: 'Subscriptions', time: { from: 'now-30d', to: 'now' } };
  const text = JSON.stringify({ ...dashboard, panels: panels.map(panelOf) }, null, 2);
  await writeFile(join(folder, 'dashboards/subreport.json'), `${text}\n`);
} catch (error) {
  if (!(error instanceof SubreportError)) throw error;
  console.error(`grafana-dashboard: ${error.message} (${error.code}, correlation id ${error.correlationId})`);
  process.exitCode = 1;
}
