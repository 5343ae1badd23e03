import type { Operation, OperationId } from '../../packages/contract/operations.ts';
import type { OperatorApiId, OperatorOperationId } from '../../packages/contract/operator/operations.ts';

/** The request that the code samples of an operation send. */
export interface SampleRequest {
  /**
   * How the request is authenticated: with an access token, an operator's token, or client
   * credentials.
   */
  readonly credentials?: 'token' | 'operator' | 'client';
  /** Values of path parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Fields of a URL-encoded body; a value that starts with `$` is an environment variable. */
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
  /** A file that is the NDJSON body. */
  readonly file?: string;
  /** TypeScript statements that do the same with `client`, the client library. */
  readonly withClient?: string;
}

/** A member of `x-codeSamples` of an operation. */
interface CodeSample {
  readonly lang: 'Shell' | 'TypeScript' | 'Python';
  readonly label: string;
  readonly source: string;
}

/**
 * Writes the code samples of an operation. They read `CLIENT_ID`, `CLIENT_SECRET`,
 * `ACCESS_TOKEN` and `OPERATOR_TOKEN` from the environment.
 */
export function codeSamples(origin: string, { method, path }: Operation, request: SampleRequest): CodeSample[] {
  const parts = { origin, method, request, url: origin + fillPath(path, request.path ?? {}) };
  return [
    { lang: 'Shell', label: 'curl', source: curlSample(parts) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescriptSample(parts) },
    { lang: 'Python', label: 'Python', source: pythonSample(parts) },
  ];
}

interface SampleParts {
  readonly origin: string;
  readonly method: Operation['method'];
  /** The URL without the query string. */
  readonly url: string;
  readonly request: SampleRequest;
}

const fillPath = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));

const queryOf = ({ query }: SampleRequest): string =>
  query === undefined
    ? ''
    : `?${Object.entries(query)
        .map(([name, value]) => `${name}=${value}`)
        .join('&')}`;

/** The environment variable of the request's token, if it has one. */
const tokenVariable = ({ credentials }: SampleRequest): string | undefined =>
  credentials === 'token' ? 'ACCESS_TOKEN' : credentials === 'operator' ? 'OPERATOR_TOKEN' : undefined;

const hasBody = ({ form, json, file }: SampleRequest): boolean =>
  form !== undefined || json !== undefined || file !== undefined;

function curlSample({ method, url, request }: SampleParts): string {
  const { credentials, form = {}, json, file } = request;
  const token = tokenVariable(request);
  const options = [
    ...(method === 'GET' || (method === 'POST' && hasBody(request)) ? [] : [`-X ${method}`]),
    ...(token === undefined ? [] : [`-H "Authorization: Bearer $${token}"`]),
    ...(credentials === 'client' ? ['-u "$CLIENT_ID:$CLIENT_SECRET"'] : []),
    ...Object.entries(form).map(([name, value]) => `-d "${name}=${value}"`),
    ...(json === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(json)}'`]),
    ...(file === undefined ? [] : ["-H 'Content-Type: application/x-ndjson'", `--data-binary @${file}`]),
  ];
  return [`curl '${url}${queryOf(request)}'`, ...options].join(' \\\n  ');
}

function typescriptSample(parts: SampleParts): string {
  const { origin, request } = parts;
  if (request.withClient === undefined) return fetchSample(parts);
  return `import { createClient } from '@subreport/client';

const client = createClient({
  url: '${origin}',
  clientId: process.env.CLIENT_ID,
  clientSecret: process.env.CLIENT_SECRET,
});
${request.withClient}`;
}

/** For operations that the client library does not have. */
function fetchSample({ method, url, request }: SampleParts): string {
  const { credentials, form, json, file } = request;
  const token = tokenVariable(request);
  const setUp = [
    ...(file === undefined ? [] : ["import { readFile } from 'node:fs/promises';\n"]),
    ...(credentials === 'client'
      ? ['const credentials = btoa(`${process.env.CLIENT_ID}:${process.env.CLIENT_SECRET}`);']
      : []),
  ];
  const headers = [
    ...(credentials === 'client' ? ['authorization: `Basic ${credentials}`'] : []),
    ...(token === undefined ? [] : [`authorization: \`Bearer \${process.env.${token}}\``]),
    ...(json === undefined ? [] : ["'content-type': 'application/json'"]),
    ...(file === undefined ? [] : ["'content-type': 'application/x-ndjson'"]),
  ];
  const fields = Object.entries(form ?? {}).map(
    ([name, value]) => `${name}: ${value.startsWith('$') ? `process.env.${value.slice(1)} ?? ''` : `'${value}'`}`,
  );
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(fields.length === 0 ? [] : [`  body: new URLSearchParams({ ${fields.join(', ')} }),`]),
    ...(json === undefined ? [] : [`  body: JSON.stringify(${literal(json)}),`]),
    ...(file === undefined ? [] : [`  body: await readFile('${file}'),`]),
  ];
  const init = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return [
    ...setUp,
    `const response = await fetch('${url}${queryOf(request)}'${init});`,
    'console.log(response.status, await response.text());',
  ].join('\n');
}

/** A JSON value as a literal of TypeScript. */
const literal = (value: object): string =>
  JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll(/"(\w+)":/g, '$1:')
    .replaceAll('"', "'")
    .replaceAll('[ ', '[')
    .replaceAll(' ]', ']');

function pythonSample({ method, url, request }: SampleParts): string {
  const { credentials, query, form, json, file } = request;
  const token = tokenVariable(request);
  const fields = form ?? query;
  const pairs = Object.entries(fields ?? {}).map(
    ([name, value]) => `"${name}": ${value.startsWith('$') ? `os.environ["${value.slice(1)}"]` : `"${value}"`}`,
  );
  const headers = [
    ...(credentials === 'client' ? ['"Authorization": f"Basic {credentials}"'] : []),
    ...(token === undefined ? [] : [`"Authorization": f"Bearer {os.environ['${token}']}"`]),
    ...(json === undefined ? [] : ['"Content-Type": "application/json"']),
    ...(file === undefined ? [] : ['"Content-Type": "application/x-ndjson"']),
  ];
  const body = [
    ...(form === undefined ? [] : [`data = urlencode({${pairs.join(', ')}}).encode()`]),
    ...(json === undefined ? [] : [`data = json.dumps(${JSON.stringify(json)}).encode()`]),
    ...(file === undefined ? [] : [`data = open("${file}", "rb").read()`]),
  ];
  const options = [
    ...(body.length === 0 ? [] : [', data']),
    ...(headers.length === 0 ? [] : [`, headers={${headers.join(', ')}}`]),
    ...(method === 'GET' || (method === 'POST' && body.length > 0) ? [] : [`, method="${method}"`]),
  ];
  return [
    ...(credentials === 'client' ? ['import base64'] : []),
    ...(json === undefined ? [] : ['import json']),
    ...(credentials === undefined ? [] : ['import os']),
    ...(fields === undefined ? [] : ['from urllib.parse import urlencode']),
    'from urllib.request import Request, urlopen',
    '',
    ...(credentials === 'client'
      ? [
          "credentials = f\"{os.environ['CLIENT_ID']}:{os.environ['CLIENT_SECRET']}\"",
          'credentials = base64.b64encode(credentials.encode()).decode()',
        ]
      : []),
    ...body,
    query === undefined ? `url = "${url}"` : `url = "${url}?" + urlencode({${pairs.join(', ')}})`,
    `with urlopen(Request(url${options.join('')})) as response:`,
    '    print(response.read().decode())',
  ].join('\n');
}

/** The request of each operation. The ids are those of `exampleSubscription`. */
export const sampleRequests: Readonly<
  Record<OperationId | Exclude<OperatorOperationId, OperatorApiId>, SampleRequest>
> = {
  listSubscriptions: {
    credentials: 'token',
    query: { status: 'ACTIVE,DEPLETED', fields: 'id,expirationDate', size: '50' },
    withClient: `for await (const subscription of client.subscriptions({
  status: ['ACTIVE', 'DEPLETED'],
  fields: ['id', 'expirationDate'],
  size: 50,
})) {
  console.log(subscription.id, subscription.expirationDate);
}`,
  },
  getSubscription: {
    credentials: 'token',
    path: { id: 'c3Vic2NyaXB0aW9uLTAwMDE=' },
    withClient: `const subscription = await client.subscription('c3Vic2NyaXB0aW9uLTAwMDE=');
console.log(subscription);`,
  },
  getSubscriptionHistory: {
    credentials: 'token',
    path: { id: 'c3Vic2NyaXB0aW9uLTAwMDE=' },
    withClient: `const { versions } = await client.history('c3Vic2NyaXB0aW9uLTAwMDE=');
console.log(versions.length, versions[0]);`,
  },
  searchSubscriptions: {
    credentials: 'token',
    json: { email: 'ada@example.com', status: ['ACTIVE', 'DEPLETED'], size: 50 },
    withClient: `const found = await client.search({ email: 'ada@example.com', status: ['ACTIVE', 'DEPLETED'] }).first();
console.log(found);`,
  },
  getSubscriptionSummary: {
    credentials: 'token',
    query: { by: 'status,month' },
    withClient: `const summary = await client.summary({ by: ['status', 'month'] });
console.log(summary.total, summary.by.status);`,
  },
  getSubscriptionFindings: {
    credentials: 'token',
    withClient: `const { findings } = await client.findings();
for (const { kind, count } of findings) console.log(kind, count);`,
  },
  listSubscriptionChanges: {
    credentials: 'token',
    query: { size: '100' },
    withClient: `for await (const page of client.changes(undefined, { size: 100 })) {
  console.log(page.changes.length, page.next);
}`,
  },
  getChangesSummary: {
    credentials: 'token',
    query: { since: '2026-10-31T00:00:00Z' },
    withClient: `const { total, by } = await client.changesSummary(new Date('2026-10-31T00:00:00Z'));
console.log(total, by.status);`,
  },
  issueToken: { credentials: 'client', form: { grant_type: 'client_credentials' } },
  revokeToken: { credentials: 'client', form: { token: '$ACCESS_TOKEN' } },
  introspectToken: { credentials: 'client', form: { token: '$ACCESS_TOKEN' } },
  loadSubscriptions: { credentials: 'token', path: { tenant: 'acme' }, file: 'subscriptions.ndjson' },
  getKeySet: {},
  getAuthorizationServerMetadata: {},
  getOpenidConfiguration: {},
  getMetrics: {},
  getHealth: {},
  getReadiness: {},
  getOpenapi: {},
};
