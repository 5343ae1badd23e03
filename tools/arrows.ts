/** A folder (or one file), what it contains and what it may import besides its own files. */
export interface Folder {
  readonly path: string;
  readonly contents: string;
  /**
   * Folders from the root, with all below them, or without if they end in `/*`; files; packages;
   * `node`. Without it, the folder may import everything.
   */
  readonly imports?: readonly string[];
  /** Patterns of imports that are forbidden, for folders that may import all others. */
  readonly forbids?: readonly string[];
}

const pages = ['lucide', 'preact', 'preact/hooks', '@preact/signals', 'src/client', 'src/contract'];
const routes = ['src/http/listener', 'src/contract', 'src/auth', 'src/storage/error.ts', 'src/storage/store.ts'];
const inAuth = ['src/auth/*', 'src/contract', 'src/storage', 'node'];
const inStorage = ['src/tracing', 'src/storage/*', 'src/storage/counts', 'src/storage/tables', 'src/storage/records'];
const work = ['src/contract', 'src/storage', 'src/auth', 'src/audit', 'src/import'];
const programs = ['src/conform', 'src/workbook', 'src/mcp/serve-mcp.ts', 'src/sync'];
const ofReaders = ['error', 'integer-option', 'output', 'package-version', 'progress-bar'].map(
  (name) => `src/cli/${name}.ts`,
);
const destinations = ['pg', 'pg-copy-streams'];
const server = ['fastify', '@fastify/*', 'node'];

/**
 * The only source of the rules for imports: `npm run arrows` writes them for Biome and
 * ARCHITECTURE.md. A folder's own files import from its subfolders only if its row says so.
 */
export const folders: readonly Folder[] = [
  {
    path: 'src/contract',
    contents: 'operations; schemas and types of records, queries and errors',
    imports: ['typebox'],
  },
  {
    path: 'src/contract/oauth',
    contents: "grants, scopes, bodies of the token endpoint and of the consoles' sessions",
    imports: ['src/contract/*', 'typebox'],
  },
  {
    path: 'src/contract/operator',
    contents: "the operations and schemas of the operator's API",
    imports: ['src/contract/*', 'src/contract/oauth', 'typebox'],
  },
  {
    path: 'src/tracing',
    contents: 'spans, the trace context, the SDK of OpenTelemetry',
    imports: ['@opentelemetry/*', 'node'],
  },
  {
    path: 'src/storage',
    contents: 'the `Store` interface, its types, the migrations',
    imports: ['lru-cache', 'node'],
  },
  {
    path: 'src/storage/open-store.ts',
    contents: 'opens the store of one of the two engines',
    imports: ['src/storage/sqlite/store.ts', 'src/storage/postgres', 'node'],
  },
  {
    path: 'src/storage/counts',
    contents: 'the counts stored for each tenant and product: an index of three levels',
    imports: ['src/storage/*'],
  },
  {
    path: 'src/storage/tables',
    contents: 'statements about tenants, clients, keys, refresh families and imports',
    imports: ['src/storage/*', 'node:timers/promises'],
  },
  {
    path: 'src/storage/records',
    contents: 'checks stored records and repairs them',
    imports: ['src/storage/*', 'src/storage/counts', 'src/storage/tables'],
  },
  {
    path: 'src/storage/read',
    contents: 'reads pages, summaries and changes; the same statements on both engines',
    imports: ['src/storage/*', 'src/storage/counts', 'node:timers/promises'],
  },
  {
    path: 'src/storage/sqlite',
    contents: 'the embedded engine',
    imports: [...inStorage, 'node'],
  },
  {
    path: 'src/storage/postgres',
    contents: 'the PostgreSQL engine',
    imports: [...inStorage, 'src/storage/postgres/wire', 'pg', 'node'],
  },
  {
    path: 'src/storage/postgres/wire',
    contents: 'messages to PostgreSQL that bypass the driver, and all private members of the driver that are used',
    imports: ['src/storage/*', 'pg', 'node'],
  },
  {
    path: 'src/storage/backup',
    contents: 'writes and restores backups',
    imports: ['src/storage/*', 'src/storage/tables', 'src/storage/sqlite', 'src/storage/postgres', 'pg', 'node'],
  },
  {
    path: 'src/auth',
    contents: 'its context, errors, counts of attempts',
    imports: ['src/contract', 'src/storage', 'node'],
  },
  {
    path: 'src/auth/auth-context.ts',
    contents: 'what every part of authentication works with',
    imports: ['src/auth/keys', 'src/storage'],
  },
  { path: 'src/auth/keys', contents: 'keys of tokens: made, encrypted, stored, rotated', imports: [...inAuth, 'jose'] },
  { path: 'src/auth/clients', contents: 'clients and their secrets', imports: inAuth },
  {
    path: 'src/auth/verify',
    contents: "checks access tokens and operators' tokens",
    imports: [...inAuth, 'src/auth/keys', 'src/tracing', 'jose'],
  },
  {
    path: 'src/auth/provider',
    contents: 'the external identity provider: tokens, keys, sign-in of people',
    imports: [...inAuth, 'src/auth/verify', 'src/tracing', 'jose', 'openid-client'],
  },
  {
    path: 'src/auth/grants',
    contents: 'the two grants, revocation and introspection',
    imports: [...inAuth, 'src/auth/keys', 'src/auth/verify', 'jose'],
  },
  {
    path: 'src/auth/sessions',
    contents: 'sessions of the consoles',
    imports: [...inAuth, 'src/auth/clients', 'src/auth/grants', 'src/auth/verify'],
  },
  {
    path: 'src/audit',
    contents: 'the audit log: names of actions, entries, events counted per minute',
    imports: ['src/contract', 'src/storage'],
  },
  {
    path: 'src/report',
    contents: 'queries: parse → plan → run → format, one file for each stage',
    imports: ['src/contract', 'src/parquet', 'src/tracing', 'src/storage'],
  },
  {
    path: 'src/parquet',
    contents: 'the Parquet file of a report, encoded on a thread',
    imports: ['src/contract', 'hyparquet', 'hyparquet-writer', 'node'],
  },
  {
    path: 'src/import',
    contents: 'import: read CSV or NDJSON → check rows → load; synthetic rows',
    imports: [
      'src/contract',
      'src/tracing',
      'src/storage',
      'csv-parse',
      'csv-stringify',
      'typebox',
      'typebox/schema',
      'typebox/system',
      'node',
    ],
  },
  {
    path: 'src/operator',
    contents: "the work of the operator's API and commands; every change passes `operator/perform.ts`",
    imports: ['src/contract', 'src/storage', 'src/audit', 'src/auth', 'src/import', 'node'],
  },
  {
    path: 'src/http',
    contents: 'puts the public server together',
    imports: [
      'src/http/listener',
      'src/http/report',
      'src/http/oauth',
      'src/http/operator',
      'src/http/console',
      'src/http/reference',
      'src/auth',
      ...server,
    ],
  },
  {
    path: 'src/http/listener',
    contents: 'what every request passes: guards, limits, the access log, errors',
    imports: [
      'src/contract',
      'src/tracing',
      'src/auth',
      'src/storage/error.ts',
      'src/storage/store.ts',
      'typebox',
      ...server,
    ],
  },
  {
    path: 'src/http/report',
    contents: "the report's operations: pages, exports, summaries, changes, response caching",
    imports: [...routes, 'src/storage/bounded-map.ts', 'src/tracing', 'src/report', ...server],
  },
  {
    path: 'src/http/oauth',
    contents: 'the token endpoint, revocation, introspection, metadata',
    imports: [...routes, 'src/tracing', ...server],
  },
  {
    path: 'src/http/console',
    contents: "serves the consoles' pages on both listeners",
    imports: [...routes, 'src/tracing', ...server],
  },
  {
    path: 'src/http/reference',
    contents: 'the API reference and the OpenAPI documents',
    imports: ['src/http/listener', 'src/contract', ...server],
  },
  {
    path: 'src/http/operator',
    contents: 'the management listener and its operations',
    imports: [
      ...routes,
      'src/http/console',
      'src/http/reference',
      'src/audit',
      'src/import',
      'src/operator',
      'typebox',
      ...server,
    ],
  },
  {
    path: 'src/metrics',
    contents: 'metrics, and their sum over worker processes',
    imports: ['src/contract', 'src/storage/store.ts', 'src/storage/bounded-map.ts', 'prom-client', 'node'],
  },
  {
    path: 'src/client',
    contents: 'the client library: no dependency, at most 9.4 kB',
    imports: ['src/contract'],
  },
  {
    path: 'src/workbook',
    contents: 'the Excel workbook of a report',
    imports: ['src/contract', 'hucre/xlsx'],
  },
  {
    path: 'src/mcp',
    contents: 'the tools of `subreport mcp` for AI assistants',
    imports: ['src/contract', 'src/client/index.ts', '@modelcontextprotocol/**', 'node'],
  },
  {
    path: 'src/sync',
    contents: "keeps copies of a report in the reader's own databases and files",
    imports: ['src/client/index.ts', 'src/contract', ...destinations, 'node'],
  },
  {
    path: 'src/conform',
    contents: 'checks any server of the published API',
    imports: ['src/client', 'src/contract', 'node'],
  },
  {
    path: 'src/mirror',
    contents: 'keeps a tenant in step with an account of a service that somebody else operates',
    imports: ['src/client', 'src/contract', 'src/sync/state-file.ts', 'node'],
  },
  {
    path: 'src/cli',
    contents: 'commands, settings, wiring; alone reads the environment',
  },
  {
    path: 'src/cli/reader',
    contents: 'commands of readers: clients of any service, without a store',
    imports: ['src/contract', 'src/client/index.ts', ...programs, ...ofReaders, 'commander', 'typebox', 'node'],
  },
  {
    path: 'src/cli/settings',
    contents: 'how settings are read; `cli/config.ts` has all',
    imports: [
      'src/contract',
      'src/tracing',
      'src/auth',
      'src/http/listener/tls.ts',
      'src/cli/error.ts',
      'pino',
      'node',
    ],
  },
  {
    path: 'src/cli/log',
    contents: 'the log: JSON or text, dropped lines, errors in words',
    imports: [
      'src/storage/error.ts',
      'src/auth/error.ts',
      'src/import/error.ts',
      'src/operator/error.ts',
      'src/cli/config.ts',
      'src/cli/error.ts',
      'src/cli/output.ts',
      'pino',
      'node',
    ],
  },
  {
    path: 'src/cli/store',
    contents: 'opens and checks the store; backup, restore, migration, synthetic records',
    imports: [
      ...work,
      'src/operator',
      'src/cli/config.ts',
      'src/cli/error.ts',
      'src/cli/integer-option.ts',
      'src/cli/output.ts',
      'src/cli/progress-bar.ts',
      'src/cli/settings',
      'src/cli/log',
      'commander',
      'pino',
      'node',
    ],
  },
  {
    path: 'src/cli/serving',
    contents: 'the command `serve`: processes, signals, metrics, regular work, the demo',
    imports: [
      'src/contract',
      'src/tracing',
      'src/storage',
      'src/auth',
      'src/audit',
      'src/import',
      'src/http/listener',
      'src/metrics',
      'src/cli/*',
      'src/cli/settings',
      'src/cli/log',
      'src/cli/store',
      'commander',
      'pino',
      'node',
    ],
  },
  {
    path: 'src/cli/remote',
    contents: "calls the operator's API, for commands with `--server`",
    imports: [
      'src/contract',
      'src/auth',
      'src/client/error.ts',
      'src/cli/error.ts',
      'src/cli/package-version.ts',
      'src/cli/settings',
      'src/cli/reader/environment.ts',
      'node',
    ],
  },
  {
    path: 'src/cli/operator',
    contents: 'the commands of the operator, in the store or with `--server`',
    imports: [
      ...work,
      ...['src/operator', 'src/http/operator', 'src/mirror', 'src/cli/*', 'src/cli/reader'],
      'src/cli/settings',
      'src/cli/log',
      'src/cli/store',
      'src/cli/remote',
      'commander',
      'node',
    ],
  },
  { path: 'console/ui', contents: 'components, styles, address, session and keys of both consoles', imports: pages },
  { path: 'console/charts', contents: 'charts', imports: ['console/ui', 'd3-*', ...pages] },
  {
    path: 'console/report',
    contents: 'the report console, a client of the API',
    forbids: [
      '../**/src/**',
      '!../**/src/client/**',
      '!../**/src/contract/**',
      '!../**/src/workbook/**',
      '../**/operator/**',
    ],
  },
  {
    path: 'console/operator',
    contents: "the operator's console, a client of the operator's API",
    forbids: ['../**/src/**', '!../**/src/client/**', '!../**/src/contract/**', '../**/report/**'],
  },
  { path: 'console/reference', contents: 'style and script of `/docs`, with the colors of `console/ui/`', imports: [] },
  {
    path: 'examples',
    contents: 'programs that use the client library; npm links `@subreport/client` to `src/client/`',
    imports: ['@subreport/client', 'express', 'node'],
  },
  {
    path: 'clients/python',
    contents: 'the Python client, with the names and errors of `src/client/`',
    imports: [],
  },
  { path: 'test', contents: 'tests across folders' },
  { path: 'tools', contents: 'our scripts' },
  { path: 'bench', contents: 'measured claims, their peers and results' },
];

/** Whether a row is about one file. */
export const isFile = (path: string): boolean => /\.\w+$/.test(path);
