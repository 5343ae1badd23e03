import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { TenantId, TenantStatement } from '../../packages/service/storage/store.ts';
import { utf8Of } from '../../packages/service/storage/utf8-column.ts';

// The floor of a page: node:http that runs the statements of our pages and sends their bytes with
// the headers of one page. It reads no query, checks no token and computes no header. `PAGES` is a
// file with the statements of pages, which it runs in turn, and the headers.

/** The statements of a page, the last of which returns the records. */
export interface FloorPage {
  readonly tenant: TenantId;
  readonly statements: readonly TenantStatement[];
}

const { pages, headers } = JSON.parse(readFileSync(process.env.PAGES ?? '', 'utf8')) as {
  readonly pages: readonly FloorPage[];
  readonly headers: Record<string, string>;
};
const store = openStore({
  databaseUrl: process.env.DATABASE_URL,
  dataDir: process.env.DATA_DIR ?? '',
  poolSize: 10, // as `DATABASE_POOL_SIZE`
  onConnectionError: () => undefined,
});
let next = 0;

const server = createServer((_request, response) => {
  const page = pages[next % pages.length];
  next += 1;
  if (page === undefined) throw new RangeError('Cannot serve: there must be a page');
  void store.readTenantOnce(page.tenant, page.statements, { isBounded: true }).then((results) => {
    const body = utf8Of(store.engine, results.at(-1)?.[0] ?? {}, 'array');
    response.writeHead(200, { ...headers, 'content-length': body.length }).end(body);
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
