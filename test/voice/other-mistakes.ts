import type { Values } from './mistakes.ts';

/** Method and path, a body (an object is sent as JSON), and headers; an empty one is left out. */
export type Request = readonly [
  method: string,
  path: string,
  body?: object | string | undefined,
  headers?: Readonly<Record<string, string>>,
];

/** A mistake that each surface has in a form of its own, or not at all. */
export interface OtherMistake {
  readonly mistake: string;
  /** What each sentence must name. */
  readonly names: RegExp;
  /** What each sentence must have: a right value, or what is meant. */
  readonly shows: RegExp;
  readonly api?: Request;
  /** The same of the management listener. */
  readonly operator?: Request;
  readonly cli?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Expressions of `createClient`, `client`, `url` and the credentials. */
  readonly typescript?: string;
  readonly python?: string;
  readonly mcp?: readonly [tool: string, given: Values];
  /** An address of the console, or of the operator's. */
  readonly console?: string;
  readonly operatorConsole?: string;
}

const report = '/connect-api/v1/subscription';
const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: '' };
const json = { 'content-type': 'application/json' };

/** Requests that are wrong as a whole. */
const requests: readonly OtherMistake[] = [
  {
    mistake: 'no token',
    names: /access token/i,
    shows: /Bearer/,
    api: ['GET', report, undefined, { authorization: '' }],
  },
  {
    mistake: 'a token of nobody',
    names: /token/,
    shows: /issued/,
    api: ['GET', report, undefined, { authorization: 'Bearer abc' }],
  },
  {
    mistake: 'Basic instead of Bearer',
    names: /authorization/i,
    shows: /Bearer/,
    api: ['GET', report, undefined, { authorization: 'Basic YTpi' }],
  },
  {
    mistake: 'a token in the URL',
    names: /access_token/,
    shows: /Authorization/,
    api: ['GET', `${report}?access_token=abc`],
  },
  { mistake: 'a method that is not allowed', names: /DELETE/, shows: /GET/, api: ['DELETE', report] },
  { mistake: 'a path that does not exist', names: /path/, shows: /openapi/, api: ['GET', `${report}s`] },
  {
    mistake: 'a search without a body',
    names: /body/,
    shows: /JSON object/,
    api: ['POST', `${report}/search`, '', json],
  },
  {
    mistake: 'a search in a form',
    names: /media type/,
    shows: /application\/json/,
    api: ['POST', `${report}/search`, 'size=5', { 'content-type': 'application/x-www-form-urlencoded' }],
  },
  {
    mistake: 'JSON that is cut off',
    names: /body/,
    shows: /JSON/,
    api: ['POST', `${report}/search`, '{"size":', json],
  },
  { mistake: 'a list as a body', names: /body/, shows: /JSON object/, api: ['POST', `${report}/search`, '[]', json] },
  {
    mistake: 'a member that is null',
    names: /iccid/,
    shows: /such as 8944|omit/,
    api: ['POST', `${report}/search`, { iccid: null }, json],
    typescript: 'client.search({ iccid: null }).page()',
  },
  {
    mistake: 'a query string beside a body',
    names: /size/,
    shows: /body/,
    api: ['POST', `${report}/search?size=5`, {}, json],
  },
  {
    mistake: 'a parameter twice',
    names: /size/,
    shows: /once/,
    api: ['GET', `${report}?size=5&size=5`],
    cli: ['list', '--size', '5', '--size', '5'],
    console: '/console/subscriptions?size=5&size=5',
  },
  {
    mistake: 'a percent sign alone',
    names: /iccid/,
    shows: /%2B/,
    api: ['GET', `${report}?iccid=%ZZ`],
    console: '/console/subscriptions?iccid=%ZZ',
  },
  {
    mistake: 'an Accept of pictures',
    names: /accept/i,
    shows: /application\/json/,
    api: ['GET', report, undefined, { accept: 'image/png' }],
  },
  { mistake: 'a plus in an email', names: /email/, shows: /%2B/, api: ['GET', `${report}?email=ada+x@example.com`] },
];

/** Requests of tokens, and the credentials that they need. */
const credentials: readonly OtherMistake[] = [
  {
    mistake: 'a token request without a grant',
    names: /grant_type/,
    shows: /client_credentials/,
    api: ['POST', '/oauth2/token', 'client_id=a&client_secret=b', form],
  },
  {
    mistake: 'an unknown grant',
    names: /grant_type/,
    shows: /client_credentials/,
    api: ['POST', '/oauth2/token', 'grant_type=password&client_id=a&client_secret=b', form],
  },
  {
    mistake: 'a token request as JSON',
    names: /body/,
    shows: /x-www-form-urlencoded/,
    api: ['POST', '/oauth2/token', { grant_type: 'client_credentials' }, { authorization: '' }],
  },
  {
    mistake: 'a token request without credentials',
    names: /client/,
    shows: /client_secret|Basic/,
    api: ['POST', '/oauth2/token', 'grant_type=client_credentials', form],
  },
  {
    mistake: 'a wrong secret',
    names: /client/i,
    shows: /secret|log in/i,
    api: ['POST', '/oauth2/token', 'grant_type=client_credentials&client_id=acme&client_secret=wrong', form],
    cli: ['list'],
    environment: { SUBREPORT_CLIENT_SECRET: 'wrong' },
    typescript: "createClient({ url, clientId, clientSecret: 'wrong' }).summary()",
    python: 'subreport.create_client(url, client_id=client_id, client_secret="wrong").summary()',
  },
  {
    mistake: 'a refresh token of nobody',
    names: /refresh_token|refresh token/,
    shows: /client_credentials/,
    api: [
      'POST',
      '/oauth2/token',
      'grant_type=refresh_token&refresh_token=x&client_id=CLIENT&client_secret=SECRET',
      form,
    ],
  },
  {
    mistake: 'an unknown scope',
    names: /scope/,
    shows: /subscription:read/,
    api: [
      'POST',
      '/oauth2/token',
      'grant_type=client_credentials&scope=all&client_id=CLIENT&client_secret=SECRET',
      form,
    ],
  },
  {
    mistake: 'no URL',
    names: /url/i,
    shows: /https:\/\/reports\.example\.com|SUBREPORT_URL/,
    cli: ['list'],
    environment: { SUBREPORT_URL: '' },
    typescript: 'createClient({ clientId, clientSecret })',
    python: 'subreport.create_client(None, client_id=client_id, client_secret=client_secret)',
  },
  {
    mistake: 'a base URL without the endpoint of tokens',
    names: /token_url|issuer/,
    shows: /https:\/\/reports\.example\.com/,
    python: 'subreport.create_client(base_url=url, client_id=client_id, client_secret=client_secret)',
  },
  {
    mistake: 'no client id',
    names: /client.?id/i,
    shows: /set|such as/,
    cli: ['list'],
    environment: { SUBREPORT_CLIENT_ID: '' },
    typescript: 'createClient({ url, clientSecret })',
    python: 'subreport.create_client(url, client_id=None, client_secret=client_secret)',
  },
  {
    mistake: 'no secret',
    names: /client.?secret/i,
    shows: /set|given/,
    cli: ['list'],
    environment: { SUBREPORT_CLIENT_SECRET: '' },
    typescript: 'createClient({ url, clientId })',
    python: 'subreport.create_client(url, client_id=client_id, client_secret=None)',
  },
  {
    mistake: 'a URL without a scheme',
    names: /url/i,
    shows: /https:\/\//,
    cli: ['list'],
    environment: { SUBREPORT_URL: 'reports.example.com' },
    typescript: "createClient({ url: 'reports.example.com', clientId, clientSecret })",
    python: 'subreport.create_client("reports.example.com", client_id=client_id, client_secret=client_secret)',
  },
  {
    mistake: 'http to another machine',
    names: /http:\/\/reports\.example\.com/,
    shows: /https/,
    cli: ['list'],
    environment: { SUBREPORT_URL: 'http://reports.example.com' },
    typescript: "createClient({ url: 'http://reports.example.com', clientId, clientSecret })",
    python: 'subreport.create_client("http://reports.example.com", client_id=client_id, client_secret=client_secret)',
  },
  {
    mistake: 'ftp',
    names: /ftp|url/i,
    shows: /https/,
    cli: ['list'],
    environment: { SUBREPORT_URL: 'ftp://reports.example.com' },
    typescript: "createClient({ url: 'ftp://reports.example.com', clientId, clientSecret })",
    python: 'subreport.create_client("ftp://reports.example.com", client_id=client_id, client_secret=client_secret)',
  },
  {
    mistake: 'a service that does not run',
    names: /127\.0\.0\.1:1/,
    shows: /accept/,
    cli: ['list'],
    environment: { SUBREPORT_URL: 'http://127.0.0.1:1' },
    typescript: "createClient({ url: 'http://127.0.0.1:1', clientId, clientSecret, attempts: 1 }).summary()",
    python:
      'subreport.create_client("http://127.0.0.1:1", client_id=client_id, client_secret=client_secret, attempts=1).summary()',
  },
  {
    mistake: 'a path behind the URL',
    names: /url|issuer/i,
    shows: /URL/,
    cli: ['list'],
    environment: { SUBREPORT_URL: 'URL/api' },
    typescript: 'createClient({ url: url + "/api", clientId, clientSecret }).summary()',
    python: 'subreport.create_client(url + "/api", client_id=client_id, client_secret=client_secret).summary()',
  },
  {
    mistake: 'an option that does not exist',
    names: /stauts|tiemout/,
    shows: /status|timeout/,
    cli: ['list', '--stauts', 'ACTIVE'],
    python: 'subreport.create_client(url, client_id=client_id, client_secret=client_secret, tiemout_ms=5)',
  },
];

/** Values that only a program can give. */
const programs: readonly OtherMistake[] = [
  {
    mistake: 'null as a filter',
    names: /status/,
    shows: /omit/,
    typescript: 'client.subscriptions({ status: null }).page()',
  },
  {
    mistake: 'an empty string as a filter',
    names: /status/,
    shows: /omit|such as/,
    api: ['GET', `${report}?status=`],
    cli: ['list', '--status', ''],
    typescript: "client.subscriptions({ status: '' }).page()",
    python: 'client.subscriptions(status="").page()',
    console: '/console/subscriptions?status=',
  },
  {
    mistake: 'an invalid Date',
    names: /before/,
    shows: /Date/,
    typescript: "client.subscriptions({ before: new Date('x') }).page()",
  },
  {
    mistake: 'a datetime without a zone',
    names: /before/,
    shows: /time zone/,
    python: 'client.subscriptions(before=__import__("datetime").datetime(2024, 5, 1)).page()',
  },
  {
    mistake: 'an email in a summary',
    names: /email/,
    shows: /search|%2B/,
    api: ['GET', `${report}/summary?email=a b`],
    typescript: "client.summary({ email: 'ada@example.com' })",
    python: 'client.summary(email="ada@example.com")',
  },
  {
    mistake: 'too many for a list',
    names: /10/,
    shows: /max/,
    typescript: 'client.subscriptions({}).toArray({ max: 10 })',
    python: 'client.subscriptions().to_list(max=10)',
  },
  {
    mistake: 'a format of exports that does not exist',
    names: /format|x\.txt/,
    shows: /csv/,
    api: ['GET', `${report}?all=true&format=xlsx`],
    cli: ['export', 'x.txt'],
    typescript: "client.export({}, { format: 'xlsx' })",
    python: 'client.export(format="xlsx")',
  },
  {
    mistake: 'a member of a response that does not exist',
    names: /cursor/,
    shows: /cursor/,
    typescript: "client.subscriptions({ cursor: 'x', size: 5 }).page()",
    python: 'client.subscriptions(cursor="x", size=5).page()',
    mcp: ['list_subscriptions', { cursor: 'x' }],
  },
  {
    mistake: 'an argument that is needed',
    names: /since|id/,
    shows: /given/,
    cli: ['changes', '--summary'],
    mcp: ['summarize_changes', {}],
  },
  {
    mistake: 'an id that is missing',
    names: /id/,
    shows: /given|missing/,
    cli: ['show'],
    mcp: ['get_subscription', {}],
  },
  {
    mistake: 'an argument of a tool without arguments',
    names: /status/,
    shows: /no arguments|unknown/,
    cli: ['findings', '--status', 'ACTIVE'],
    mcp: ['list_findings', { status: 'ACTIVE' }],
  },
  {
    mistake: 'a tool that does not exist',
    names: /list_subscription/,
    shows: /list_subscriptions|not found/,
    mcp: ['list_subscription', {}],
  },
  {
    mistake: 'an object as a value',
    names: /status/,
    shows: /string/,
    api: ['POST', `${report}/search`, { status: { is: 'ACTIVE' } }, json],
    mcp: ['list_subscriptions', { status: { is: 'ACTIVE' } }],
  },
  {
    mistake: 'an ICCID as a number',
    names: /iccid/,
    shows: /string|digits/,
    api: ['POST', `${report}/search`, { iccid: 8944500102198305000 }, json],
    mcp: ['list_subscriptions', { iccid: 8944500102198305000 }],
  },
];

/** Words and files of the command line. */
const lines: readonly OtherMistake[] = [
  { mistake: 'a command that does not exist', names: /lst/, shows: /list/, cli: ['lst'] },
  { mistake: 'a subcommand that does not exist', names: /chek/, shows: /check/, cli: ['sync', 'chek'] },
  {
    mistake: 'a subcommand by its other name',
    names: /erase/,
    shows: /delete/,
    cli: ['subscription', 'erase', '--tenant', 'acme', '--id', 'x'],
  },
  { mistake: 'a subcommand that is misspelled', names: /crate/, shows: /create/, cli: ['tenant', 'crate', 'acme'] },
  {
    mistake: 'a subcommand of clients by its other name',
    names: /remove/,
    shows: /delete/,
    cli: ['client', 'remove', '--client-id', 'x'],
  },
  { mistake: 'an argument too many', names: /list/, shows: /argument/, cli: ['list', 'x'] },
  { mistake: 'an option without its value', names: /--status/, shows: /missing/, cli: ['list', '--status'] },
  { mistake: 'an unknown output', names: /output/, shows: /csv/, cli: ['list', '-o', 'xml'] },
  {
    mistake: 'options that exclude each other',
    names: /--all/,
    shows: /--page/,
    cli: ['list', '--all', '--page', '2'],
  },
  {
    mistake: 'a profile that does not exist',
    names: /staging/,
    shows: /subreport login --profile staging/,
    cli: ['list', '--profile', 'staging'],
  },
  {
    mistake: 'a profile that does not exist, by npx',
    names: /staging/,
    shows: /npx subreport login --profile staging/,
    cli: ['list', '--profile', 'staging'],
    environment: { npm_command: 'exec', npm_lifecycle_script: 'subreport list' },
  },
  { mistake: 'a name of a profile', names: /a b/, shows: /such as staging/, cli: ['list', '--profile', 'a b'] },
  {
    mistake: 'a file of variables that is missing',
    names: /no\.env/,
    shows: /file/,
    cli: ['--env', 'no.env', 'list'],
  },
  {
    mistake: 'a file to import that is missing',
    names: /no\.csv/,
    shows: /file/,
    cli: ['import', 'no.csv', '--tenant', 'acme'],
  },
  {
    mistake: 'a folder to import',
    names: /FOLDER/,
    shows: /file/,
    cli: ['import', 'FOLDER', '--tenant', 'acme', '--format', 'csv'],
  },
  {
    mistake: 'a file to import of another kind',
    names: /x\.xlsx/,
    shows: /\.csv/,
    cli: ['import', 'x.xlsx', '--tenant', 'acme'],
  },
  {
    mistake: 'a file of credentials that is missing',
    names: /no\.json/,
    shows: /file/,
    cli: ['login', '--credentials', 'no.json'],
  },
  {
    mistake: 'a file of a secret that is missing',
    names: /no\.txt/,
    shows: /file/,
    cli: ['login', '--url', 'https://reports.example.com', '--client-id', 'a', '--client-secret-file', 'no.txt'],
  },
  {
    mistake: 'a file of ICCIDs that is missing',
    names: /no\.txt/,
    shows: /file/,
    cli: ['list', '--iccid-file', 'no.txt'],
  },
  {
    mistake: 'a file of ids to erase that is missing',
    names: /no\.txt/,
    shows: /file/,
    cli: ['subscription', 'delete', '--tenant', 'acme', '--file', 'no.txt'],
  },
  { mistake: 'a backup that is missing', names: /no\.db/, shows: /file/, cli: ['restore', 'no.db', '--yes'] },
  {
    mistake: 'a copy that is missing',
    names: /no\.db/,
    shows: /sync/,
    cli: ['sync', 'verify', '--to', 'sqlite:no.db'],
  },
  {
    mistake: 'a secret of a webhook that is missing',
    names: /no\.secret/,
    shows: /file/,
    cli: ['sync', '--to', 'webhook:https://example.com/x', '--state', 'x.db', '--secret-file', 'no.secret'],
  },
  {
    mistake: 'a state in a folder that is missing',
    names: /nowhere/,
    shows: /folder/,
    cli: ['changes', '--state', 'nowhere/x.token'],
  },
  {
    mistake: 'an export into a folder that is missing',
    names: /nowhere/,
    shows: /folder/,
    cli: ['export', 'nowhere/x.csv'],
  },
  { mistake: 'an export onto a folder', names: /FOLDER/, shows: /file/, cli: ['export', 'FOLDER', '-o', 'csv'] },
  {
    mistake: 'a backup into a folder that is missing',
    names: /nowhere/,
    shows: /folder/,
    cli: ['backup', 'nowhere/x.db'],
  },
  {
    mistake: 'an export onto a full disk',
    names: /\/dev\/full/,
    shows: /space|room/,
    cli: ['export', '/dev/full', '-o', 'csv'],
  },
  {
    mistake: 'generated records into a folder that is missing',
    names: /nowhere/,
    shows: /folder/,
    cli: ['generate', '--subscriptions', '1', '--output', 'nowhere/x.ndjson'],
  },
  {
    mistake: 'a destination that does not exist',
    names: /mysql/,
    shows: /postgres:|sqlite:/,
    cli: ['sync', '--to', 'mysql://db/x'],
  },
  { mistake: 'no destination', names: /--to/, shows: /sqlite:copy\.db/, cli: ['sync'] },
  {
    mistake: 'an option of another destination',
    names: /--table/,
    shows: /postgres/,
    cli: ['sync', '--to', 'dir:FOLDER', '--table', 'x'],
  },
  {
    mistake: 'a folder of copies that is missing',
    names: /nowhere/,
    shows: /such as dir:/,
    cli: ['sync', '--to', 'dir:nowhere'],
  },
  {
    mistake: 'no duration of days to keep',
    names: /--keep/,
    shows: /30d/,
    cli: ['sync', '--to', 'dir:FOLDER', '--keep', 'month'],
  },
  {
    mistake: 'a server that is no URL',
    names: /--server|SUBREPORT_SERVER/,
    shows: /https:\/\//,
    cli: ['tenant', 'list', '--server', 'reports'],
  },
  {
    mistake: 'no token of an operator',
    names: /TOKEN/,
    shows: /operator create|SUBREPORT_OPERATOR_TOKEN/,
    cli: ['tenant', 'list', '--server', 'https://127.0.0.1:1'],
  },
  {
    mistake: 'a duration between requests',
    names: /--every/,
    shows: /such as 10/,
    cli: ['changes', '--follow', '--every', '0'],
  },
  {
    mistake: 'an import that does not exist',
    names: /import/,
    shows: /imports list|id/,
    cli: ['imports', 'show', '01890a5d-ac96-774b-bcce-b302099a8057'],
  },
];

/** Settings of the service. */
const setting = (name: string, value: string, shows: RegExp): OtherMistake => ({
  mistake: `${name}=${value}`,
  names: new RegExp(name),
  shows,
  cli: ['config'],
  environment: { [name]: value },
});
const settings: readonly OtherMistake[] = [
  setting('PORT', 'http', /1 to 65535/),
  setting('DATABASE_URL', 'mysql://db/x', /such as postgres:/),
  setting('PUBLIC_URL', 'reports.example.com', /such as https:/),
  { ...setting('KEY_ENCRYPTION_SECRET', 'short', /openssl rand/), names: /KEY_ENCRYPTION/ },
  setting('TRUSTED_PROXIES', 'localhost', /such as 10\./),
  setting('FIRST_PAGE', '2', /one of 0, 1/),
  setting('SUBREPORT_PROT', '1', /setting/),
  setting('TLS_CERT_FILE', 'no.pem', /file|TLS_KEY_FILE/),
  setting('DATABASE_URL_FILE', 'no.txt', /such as \/run/),
];

/** Actions of the operator, over HTTP and by commands. */
const actions: readonly OtherMistake[] = [
  {
    mistake: 'a name of a tenant',
    names: /tenant/,
    shows: /such as/,
    operator: ['POST', '/operator/v1/tenants', { tenant: 'A b' }],
    cli: ['tenant', 'create', 'A b'],
  },
  {
    mistake: 'a tenant that exists',
    names: /acme/,
    shows: /another|exist|use/,
    operator: ['POST', '/operator/v1/tenants', { tenant: 'acme' }],
    cli: ['tenant', 'create', 'acme'],
  },
  {
    mistake: 'a tenant that does not exist',
    names: /nobody/,
    shows: /tenant/,
    operator: ['GET', '/operator/v1/tenants/nobody'],
    cli: ['client', 'create', '--tenant', 'nobody'],
  },
  {
    mistake: 'a client that does not exist',
    names: /client|nobody/,
    shows: /client/,
    operator: ['GET', '/operator/v1/clients/nobody'],
    cli: ['client', 'show', '--client-id', 'nobody'],
  },
  {
    mistake: 'an unknown member',
    names: /tenat/,
    shows: /tenant/,
    operator: ['POST', '/operator/v1/tenants', { tenat: 'acme' }],
    cli: ['client', 'list', '--tenat', 'acme'],
  },
  {
    mistake: 'an unknown grant of a client',
    names: /grants/,
    shows: /client_credentials/,
    operator: ['POST', '/operator/v1/clients', { tenant: 'acme', grants: ['password'] }],
    cli: ['client', 'create', '--tenant', 'acme', '--grants', 'password'],
  },
  {
    mistake: 'an unknown scope of a client',
    names: /scopes/,
    shows: /subscription:read/,
    operator: ['POST', '/operator/v1/clients', { tenant: 'acme', scopes: ['all'] }],
    cli: ['client', 'create', '--tenant', 'acme', '--scopes', 'all'],
  },
  {
    mistake: 'a rate limit',
    names: /rate/,
    shows: /such as|default/,
    operator: ['PATCH', '/operator/v1/clients/CLIENT', { rate_limit_per_minute: -1 }],
    cli: ['client', 'update', '--client-id', 'CLIENT', '--rate-limit', 'many'],
  },
  {
    mistake: 'an overlap of secrets',
    names: /overlap/,
    shows: /such as/,
    operator: ['POST', '/operator/v1/clients/CLIENT/rotate', { overlap_hours: -1 }],
    cli: ['client', 'rotate', '--client-id', 'CLIENT', '--overlap-hours', '-1'],
  },
  {
    mistake: 'an unknown purpose of a key',
    names: /purpose/,
    shows: /access/,
    operator: ['POST', '/operator/v1/keys/rotate', { purpose: 'all' }],
    cli: ['keys', 'rotate', '--purpose', 'all'],
  },
  {
    mistake: 'a scope of an operator',
    names: /scopes/,
    shows: /operator:read/,
    operator: ['POST', '/operator/v1/operators', { name: 'x', scopes: ['admin'] }],
    cli: ['operator', 'create', '--name', 'x', '--scopes', 'admin'],
  },
  {
    mistake: 'a secret that is too short',
    names: /secret/,
    shows: /16/,
    operator: ['POST', '/operator/v1/clients', { tenant: 'acme', client_secret: 'short' }],
    cli: ['client', 'create', '--tenant', 'acme', '--client-id', 'x', '--secret-stdin'],
    input: 'short',
  },
  {
    mistake: 'an erasure of nothing',
    names: /id/,
    shows: /--file|ids/,
    operator: ['POST', '/operator/v1/tenants/acme/subscriptions/erase', {}],
    cli: ['subscription', 'delete', '--tenant', 'acme'],
  },
  {
    mistake: 'a limit of a list',
    names: /limit/,
    shows: /1 to 100|such as/,
    operator: ['GET', '/operator/v1/clients?limit=0'],
    cli: ['audit', '--limit', '0'],
  },
  {
    mistake: 'an action of the audit log',
    names: /action/,
    shows: /tenant\.create/,
    operator: ['GET', '/operator/v1/audit?action=tenant.craete'],
    cli: ['audit', '--action', 'tenant.craete'],
    operatorConsole: '/console/audit?action=tenant.craete',
  },
  {
    mistake: 'an outcome of the audit log',
    names: /outcome/,
    shows: /refused/,
    operator: ['GET', '/operator/v1/audit?outcome=refussed'],
    cli: ['audit', '--outcome', 'refussed'],
    operatorConsole: '/console/audit?outcome=refussed',
  },
  {
    mistake: 'a result of imports',
    names: /result/,
    shows: /failed/,
    operator: ['GET', '/operator/v1/imports?result=fialed'],
    operatorConsole: '/console/imports?result=fialed',
  },
  {
    mistake: 'a time of the audit log',
    names: /since/,
    shows: /such as/,
    operator: ['GET', '/operator/v1/audit?since=monday'],
    cli: ['audit', '--since', 'monday'],
  },
  {
    mistake: 'the deletion of a tenant without --yes',
    names: /--yes|tenant/,
    shows: /--yes/,
    cli: ['tenant', 'delete', 'acme'],
  },
  {
    mistake: 'a load of another type',
    names: /media type/,
    shows: /text\/csv/,
    operator: ['PUT', '/operator/v1/tenants/acme/subscriptions', {}],
  },
  {
    mistake: 'a load with an unknown option',
    names: /strikt/,
    shows: /strict/,
    operator: ['PUT', '/operator/v1/tenants/acme/subscriptions?strikt=true'],
    cli: ['import', '-', '--tenant', 'acme', '--strikt'],
  },
];

export const otherMistakes: readonly OtherMistake[] = [
  ...requests,
  ...credentials,
  ...programs,
  ...lines,
  ...settings,
  ...actions,
];
