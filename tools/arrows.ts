import { reportFolders } from './report-folders.ts';
import { syncFolders } from './sync-folders.ts';

/** A folder (or one file), what it contains and what it may import besides its own files. */
export interface Folder {
  readonly path: string;
  readonly contents: string;
  /**
   * Folders, with all below them, or without if they end in `/*`; files; npm packages; `node`.
   * Without it, the folder may import everything.
   */
  readonly imports?: readonly string[];
  /** Patterns of imports that are forbidden, for folders that may import all others. */
  readonly forbids?: readonly string[];
}

const pages = ['preact', 'preact/hooks', '@preact/signals', 'client', 'contract'];
const routes = ['http/listener', 'contract', 'auth', 'storage/error.ts', 'storage/store.ts'];
const inAuth = ['auth/*', 'contract', 'storage', 'lru-cache', 'node'];
const inStorage = ['tracing', 'storage/*', 'storage/counts', 'storage/tables', 'storage/commit'];
const work = ['contract', 'storage', 'auth', 'audit', 'import'];
const programs = ['cli/workbook', 'cli/remote', 'cli/sync'];
const secrets = ['terminal/error.ts', 'terminal/secret-files.ts'];
const server = ['fastify', 'node'];

/**
 * The only source of the rules for imports: `npm run arrows` writes them for Biome and
 * ARCHITECTURE.md. A folder's own files import from its subfolders only if its row says so.
 */
const rows: readonly Folder[] = [
  {
    path: 'contract',
    contents: 'operations; schemas and types of records, queries and errors',
    imports: ['typebox'],
  },
  { path: 'contract/parquet.ts', contents: 'Parquet files', imports: ['contract/*', 'hyparquet', 'hyparquet-writer'] },
  {
    path: 'contract/oauth',
    contents: "grants, scopes, bodies of the token endpoint and of the consoles' sessions",
    imports: ['contract/*', 'typebox'],
  },
  {
    path: 'contract/operator',
    contents: "the operations and schemas of the operator's API",
    imports: ['contract/*', 'contract/oauth', 'typebox'],
  },
  {
    path: 'tracing',
    contents: 'spans of statements',
    imports: ['@opentelemetry/*'],
  },
  {
    path: 'storage',
    contents: 'the `Store` interface, its types, the clock, the migrations',
    imports: ['node'],
  },
  {
    path: 'storage/open-store.ts',
    contents: 'opens the store of one of the two engines',
    imports: ['storage/sqlite/store.ts', 'storage/postgres'],
  },
  {
    path: 'storage/counts',
    contents: 'the counts stored for each tenant and product: an index of three levels',
    imports: ['storage/*'],
  },
  {
    path: 'storage/tables',
    contents: 'statements about tenants, clients, keys, refresh families and imports',
    imports: ['storage/*', 'node:timers/promises'],
  },
  {
    path: 'storage/maintenance',
    contents: 'checks and repairs of stored records, and the sweep of their history',
    imports: ['storage/*', 'storage/counts', 'storage/tables'],
  },
  {
    path: 'storage/commit',
    contents: 'changes of subscriptions: one sequence of steps for both engines, and their statements',
    imports: ['storage/*', 'storage/counts', 'storage/tables', 'storage/maintenance'],
  },
  {
    path: 'storage/read',
    contents: 'reads pages, summaries and changes; the same statements on both engines',
    imports: ['storage/*', 'storage/counts', 'lru-cache'],
  },
  {
    path: 'storage/sqlite',
    contents: 'the embedded engine',
    imports: [...inStorage, 'terminal/create-folders.ts', 'node'],
  },
  {
    path: 'storage/postgres',
    contents: 'the PostgreSQL engine',
    imports: [...inStorage, 'storage/postgres/wire', 'outgoing/database.ts', 'pg', 'node'],
  },
  {
    path: 'storage/postgres/wire',
    contents: 'messages to PostgreSQL that bypass the driver, and all private members of the driver that are used',
    imports: ['storage/*', 'pg', 'node'],
  },
  {
    path: 'storage/backup',
    contents: 'writes and restores backups',
    imports: ['storage/*', 'storage/tables', 'storage/sqlite', 'storage/postgres', 'pg', 'node'],
  },
  {
    path: 'auth',
    contents: 'its context, errors, counts of attempts',
    imports: ['contract', 'storage', 'lru-cache', 'node'],
  },
  {
    path: 'auth/auth-context.ts',
    contents: 'what every part of authentication works with',
    imports: ['auth/keys', 'storage'],
  },
  { path: 'auth/keys', contents: 'keys of tokens: made, encrypted, stored, rotated', imports: [...inAuth, 'jose'] },
  { path: 'auth/clients', contents: 'clients and their secrets', imports: inAuth },
  {
    path: 'auth/verify',
    contents: "checks access tokens and operators' tokens",
    imports: [...inAuth, 'auth/keys', 'jose'],
  },
  {
    path: 'auth/provider',
    contents: 'the external identity provider: tokens, keys, sign-in of people',
    imports: [...inAuth, 'auth/verify', 'jose', 'openid-client'],
  },
  {
    path: 'auth/grants',
    contents: 'the two grants, revocation and introspection',
    imports: [...inAuth, 'auth/keys', 'auth/verify', 'jose'],
  },
  {
    path: 'auth/sessions',
    contents: 'sessions of the consoles',
    imports: [...inAuth, 'auth/clients', 'auth/grants', 'auth/verify'],
  },
  {
    path: 'audit',
    contents: 'the audit log: names of actions, entries, events counted per minute',
    imports: ['contract', 'storage'],
  },
  {
    path: 'report',
    contents: 'queries: parse → plan → run → format, one file for each stage',
    imports: ['contract', 'parquet', 'storage'],
  },
  {
    path: 'parquet',
    contents: 'the Parquet file of a report, encoded on a thread',
    imports: ['contract', 'node'],
  },
  {
    path: 'import',
    contents: 'import: read CSV or NDJSON → check rows → load; synthetic rows',
    imports: [
      'contract',
      'storage',
      'csv-parse',
      'csv-stringify',
      'typebox',
      'typebox/schema',
      'typebox/system',
      'terminal/create-folders.ts',
      'node',
    ],
  },
  {
    path: 'operator',
    contents: "the work of the operator's API and commands; every change passes `operator/perform.ts`",
    imports: ['contract', 'storage', 'audit', 'auth', 'import', 'node'],
  },
  {
    path: 'http',
    contents: 'puts the public server together',
    imports: [
      'http/listener',
      'http/report',
      'http/oauth',
      'http/operator',
      'http/console',
      'http/reference',
      'auth',
      ...server,
    ],
  },
  {
    path: 'http/listener',
    contents: 'what every request passes: guards, limits, the access log, errors',
    imports: [
      'contract',
      '@opentelemetry/*',
      'auth',
      'storage/error.ts',
      'storage/store.ts',
      'typebox',
      'negotiator',
      ...server,
    ],
  },
  {
    path: 'http/report',
    contents: "the report's operations: pages, exports, summaries, changes, entity tags",
    imports: [...routes, 'storage/tables/tenant-revision.ts', 'lru-cache', 'report', ...server],
  },
  {
    path: 'http/oauth',
    contents: 'the token endpoint, revocation, introspection, metadata',
    imports: [...routes, ...server],
  },
  {
    path: 'http/console',
    contents: "serves the consoles' pages on both listeners",
    imports: [...routes, ...server],
  },
  {
    path: 'http/reference',
    contents: 'the API reference and the OpenAPI documents',
    imports: ['http/listener', 'contract', ...server],
  },
  {
    path: 'http/operator',
    contents: 'the management listener and its operations',
    imports: [...routes, 'http/console', 'http/reference', 'audit', 'import', 'operator', 'typebox', ...server],
  },
  {
    path: 'metrics',
    contents: 'metrics, and their sum over worker processes',
    imports: ['contract', 'storage/store.ts', 'storage/tables', 'prom-client', 'node'],
  },
  { path: 'client', contents: 'the client library: no dependency, at most 9.7 kB', imports: ['contract'] },
  {
    path: 'cli',
    contents: 'the program of `@subreport/cli`',
    imports: ['cli/commands', 'terminal', 'commander', 'node'],
  },
  {
    path: 'cli/workbook',
    contents: 'the Excel workbook of a report',
    imports: ['contract', 'hucre/xlsx'],
  },
  {
    path: 'mcp',
    contents: 'the program of `@subreport/mcp`: tools for AI assistants',
    imports: ['contract', 'client/index.ts', 'outgoing', 'terminal', 'commander', '@modelcontextprotocol/**', 'node'],
  },
  {
    path: 'outgoing',
    contents: 'the rules of every outgoing connection of the programs and the store: bounds, time limits, TLS, proxies',
    imports: ['contract', 'client/error.ts', 'node'],
  },
  ...syncFolders,
  {
    path: 'cli/remote',
    contents: "calls the operator's API, for commands with `--server`",
    imports: ['contract', 'client/error.ts', 'outgoing', 'terminal', 'node'],
  },
  {
    path: 'terminal',
    contents: 'what all programs share: profiles, output, errors in words; the only folder that reads their variables',
    imports: ['contract', 'client', 'outgoing', 'commander', 'node'],
  },
  {
    path: 'service/cli',
    contents: 'commands, settings, wiring; the only folder that reads the environment',
    forbids: ['**/mcp/**'],
  },
  {
    path: 'cli/commands',
    contents: 'commands of readers: clients of any service, without a store',
    imports: ['contract', 'client/index.ts', ...programs, 'terminal', 'commander', 'typebox', 'node'],
  },
  {
    path: 'service/cli/settings',
    contents: 'reads settings; `packages/service/cli/config.ts` defines all of them',
    imports: ['contract', 'auth', 'http/listener/tls.ts', ...secrets, 'pino', 'node'],
  },
  {
    path: 'service/cli/log',
    contents: 'the log: JSON or text, dropped lines, errors in words',
    imports: [
      'storage/error.ts',
      'auth/error.ts',
      'import/error.ts',
      'operator/error.ts',
      'service/cli/config.ts',
      ...['terminal/error.ts', 'terminal/printable.ts'],
      'pino',
      'node',
    ],
  },
  {
    path: 'service/cli/store',
    contents: 'opens and checks the store; backup, restore, migration, synthetic records',
    imports: [
      ...work,
      'operator',
      'service/cli/config.ts',
      ...['create-folders', 'error', 'integer-option', 'output', 'progress-bar'].map((name) => `terminal/${name}.ts`),
      'service/cli/settings',
      'service/cli/log',
      'commander',
      'pino',
      'node',
    ],
  },
  {
    path: 'service/cli/serving',
    contents: 'the command `serve`: processes, signals, metrics, regular work, the demo',
    imports: [
      'contract',
      'storage',
      'auth',
      'audit',
      'import',
      'http/listener',
      'metrics',
      'outgoing',
      'service/cli/*',
      'terminal',
      'service/cli/settings',
      'service/cli/log',
      'service/cli/store',
      'lru-cache',
      'commander',
      'pino',
      'node',
    ],
  },
  {
    path: 'service/cli/operator',
    contents: 'the commands of the operator, in the store or with `--server`',
    imports: [
      ...work,
      ...['operator', 'http/operator', 'service/cli/*', 'terminal', 'cli/commands', 'cli/remote'],
      'service/cli/settings',
      'service/cli/log',
      'service/cli/store',
      'commander',
      'typebox',
      'node',
    ],
  },
  { path: 'console/ui', contents: 'components, styles, address, session and keys of both consoles', imports: pages },
  { path: 'console/charts', contents: 'charts', imports: ['console/ui', 'd3-*', ...pages] },
  {
    path: 'console/report',
    contents: 'the report console, a client of the API',
    forbids: [
      ...['../**/service/**', '../**/terminal/**', '../**/mcp/**', '../**/cli/**', '!../**/cli/workbook/**'],
      '../**/operator/**',
    ],
  },
  ...reportFolders.map((row) => ({ ...row, imports: [...pages, 'console/ui', ...row.imports] })),
  {
    path: 'console/operator',
    contents: "the operator's console, a client of the operator's API",
    forbids: ['../**/service/**', '../**/terminal/**', '../**/mcp/**', '../**/cli/**', '../**/report/**'],
  },
  {
    path: 'console/reference',
    contents: 'style and script of `/docs`, with the colors of `packages/console/ui/`',
    imports: [],
  },
  {
    path: 'examples',
    contents: 'programs that use the client library; npm links `@subreport/client` to `packages/client/`',
    imports: '@subreport/client @duckdb/node-api express node react react-dom/client standardwebhooks'.split(' '),
  },
  {
    path: 'clients/python',
    contents: 'the Python client, with the names and errors of `packages/client/`',
    imports: [],
  },
  { path: 'test', contents: 'tests across packages; those of one package are in its `test/`' },
  { path: 'tools', contents: 'our scripts' },
  { path: 'bench', contents: 'measured claims, their peers and results' },
];

/** The path from the root; the table leaves out `packages/` and, where it can, `service/`. */
const fromRoot = (path: string): string =>
  path
    .replace(/^(?=(?:client|cli|console|contract|mcp|outgoing|service|terminal)(?:\/|$))/, 'packages/')
    .replace(
      /^(?=(?:audit|auth|http|import|metrics|operator|parquet|report|storage|tracing)(?:\/|$))/,
      'packages/service/',
    );

export const folders: readonly Folder[] = rows.map((row) => ({
  ...row,
  path: fromRoot(row.path),
  ...(row.imports && { imports: row.imports.map(fromRoot) }),
}));

/** Whether a row is about one file. */
export const isFile = (path: string): boolean => /\.\w+$/.test(path);
