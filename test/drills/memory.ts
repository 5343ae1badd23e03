import { request as httpRequest } from 'node:http';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import { csvColumns } from '../../packages/service/import/csv-layout.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import type { Drill } from './drill.ts';
import { DrilledService } from './drilled-service.ts';
import { limitMemory } from './limited-memory.ts';
import type { FilledPlace, Stage } from './stage.ts';

/** Longest time of a round of loads; what is not over then is aborted. */
const roundMs = 15_000;
const tenants = ['t1', 't2', 't3', 't4', 't5'];
/** Connections that request a page of some 2 MB and never read it. */
const unreadPages = 50;
/** Connections that read pages until the mix is over. */
const readers = 48;
const ndjson = 'application/x-ndjson';

type Credentials = FilledPlace['client'];

/** A client of a tenant, with a token. */
interface Sender {
  readonly tenant: string;
  readonly token: string;
}

/** A record with the longest strings of the contract, 4 bytes a character. */
const longRecord = (n: number) => {
  const [row] = syntheticRows({ count: 1, seed: n + 1, until: 1_767_225_600 });
  const long = (length: number): string => '😀'.repeat(length);
  const product = { id: `P${n % 7}`, name: long(256), period: 30, period_unit: 'DAYS', plan_id: long(128) };
  return { ...row, id: `long-${n}`.padEnd(250, '_'), product, device_id: long(128) };
};

const longRows = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify(longRecord(from + n))}\n`).join('');

interface Body {
  readonly type: string;
  readonly body: Buffer;
}

/** Bodies that take the most memory for the bytes that are sent. */
function bodies(from: number): readonly Body[] {
  const nested = `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}\n`;
  const near = JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`activationDat${n}`, n])));
  const cells = csvColumns.map((column) => (column === 'id' ? 'x'.repeat(15_000) : 'y')).join();
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
  return [
    { type: ndjson, body: gzipSync(nested.repeat(50)) },
    { type: ndjson, body: zstdCompressSync(Buffer.alloc(2 ** 27 + 1, 'x'), { params }) },
    { type: ndjson, body: gzipSync(longRows(3_000, from)) },
    { type: ndjson, body: gzipSync(`${near}\n`.repeat(5_000)) },
    { type: 'text/csv', body: gzipSync(`${csvColumns.join()}\n${`${cells}\n`.repeat(3_000)}`) },
  ];
}

/** Adds the tenants to a store; returns a client of each. */
async function fillTenants({ environment }: FilledPlace): Promise<readonly Credentials[]> {
  const dataDir = environment.DATA_DIR ?? '';
  const store = openStore({ databaseUrl: undefined, dataDir, poolSize: 1, onConnectionError: () => undefined });
  const clients: Credentials[] = [];
  for (const name of tenants) {
    await insertTenant(store, name, 1);
    const tenant = (await findTenant(store, name))?.tenant;
    if (tenant === undefined) throw new TypeError('the tenant must exist once it was inserted');
    const now = Math.floor(Date.now() / 1000);
    clients.push(await createClient(store, now, { tenant, scopes: ['subscription:read', 'subscription:write'] }));
  }
  await store.close();
  return clients;
}

/** What the mix asks for; the drill fails if one of them is never served. */
const kinds = ['pages', 'exports', 'Parquet files', 'loads', 'findings'] as const;
type Kind = (typeof kinds)[number];

/** Sends the worst mix to a service until it is stopped. */
class Mix {
  readonly served = new Set<Kind>();
  readonly #stage: Stage;
  readonly #service: DrilledService;
  readonly #senders: readonly Sender[];
  /** The first row that no load has sent yet. */
  readonly #from: number;
  #pages = 0;

  constructor(stage: Stage, service: DrilledService, senders: readonly Sender[], from: number) {
    this.#stage = stage;
    this.#service = service;
    this.#senders = senders;
    this.#from = from;
  }

  /** Sends loads, exports, pages and findings of all tenants at once; exports stay unread. */
  async send(): Promise<void> {
    for (const sender of this.#senders)
      await this.#put(sender, '', { type: ndjson, body: gzipSync(longRows(1_000, this.#from)) });
    for (const [index, sender] of this.#senders.entries()) {
      const format = ['parquet', 'ndjson', 'csv'][index % 3];
      await this.#open(sender, `?all=true&format=${format}`, format === 'parquet' ? 'Parquet files' : 'exports');
    }
    for (let n = 0; n < unreadPages; n += 1) {
      const sender = this.#senders[n % this.#senders.length];
      if (sender !== undefined)
        void this.#open(sender, `?size=1000&created-from=2002-01-01T00:00:0${n % 10}Z`, 'pages');
    }
    let isOver = false;
    const reading = Array.from({ length: readers }, async (_, n) => {
      const sender = this.#senders[n % this.#senders.length];
      while (!isOver && sender !== undefined) await this.#page(sender);
    });
    for (const body of bodies(this.#from + 1_000)) {
      await Promise.all(
        this.#senders.flatMap((sender) => [
          this.#put(sender, '', body),
          this.#put(sender, '?dry-run=true', body),
          this.#read(sender, '/findings', 'findings'),
        ]),
      );
    }
    isOver = true;
    await Promise.all(reading);
  }

  /** Loads a body. Some are refused, and some connections closed, as they must be. */
  async #put({ tenant, token }: Sender, query: string, { type, body }: Body): Promise<void> {
    const url = `http://127.0.0.1:${this.#service.managementPort}/operator/v1/tenants/${tenant}/subscriptions${query}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const signal = AbortSignal.timeout(roundMs);
    await this.#note('loads', fetch(url, { method: 'PUT', headers, body: new Uint8Array(body), signal }));
  }

  /** Reads another page each time, in one of the codings. */
  #page(sender: Sender): Promise<void> {
    const n = this.#pages++;
    const coding = ['identity', 'gzip', 'br', 'zstd'][n % 4] ?? '';
    const query = `?size=1000&created-from=2001-01-01T00:${String(n % 3_600)
      .padStart(4, '0')
      .replace(/(\d\d)$/, ':$1')}Z`;
    return this.#read(sender, query, 'pages', { 'accept-encoding': coding });
  }

  #read({ token }: Sender, path: string, kind: Kind, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const url = `${this.#service.url}/connect-api/v1/subscription${path}`;
    return this.#note(kind, fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers } }));
  }

  /** Requests a path and never reads the response; resolves once it begins. */
  #open({ token }: Sender, path: string, kind: Kind): Promise<void> {
    const url = `${this.#service.url}/connect-api/v1/subscription${path}`;
    const request = httpRequest(url, { headers: { authorization: `Bearer ${token}` }, agent: false });
    this.#stage.defer(() => request.destroy());
    return new Promise((resolve) => {
      request.on('error', () => resolve());
      request.on('response', ({ statusCode }) => {
        if (statusCode === 200) this.served.add(kind);
        resolve();
      });
      request.end();
    });
  }

  async #note(kind: Kind, responding: Promise<Response>): Promise<void> {
    try {
      const response = await responding;
      await response.arrayBuffer();
      if (response.status === 200) this.served.add(kind);
    } catch {
      // a connection that is closed early serves nothing
    }
  }
}

/** The tokens of clients of a service; throws unless each is issued. */
async function logIn(service: DrilledService, clients: readonly Credentials[]): Promise<readonly Sender[]> {
  const { command, port, managementPort } = service;
  return Promise.all(
    clients.map(async (client, n) => {
      const sender = new DrilledService(command, port, managementPort, client);
      await sender.logIn();
      return { tenant: tenants[n] ?? '', token: sender.token };
    }),
  );
}

/** Gives each worker tokens, filters and pages that it keeps. */
async function fillCaches(service: DrilledService): Promise<void> {
  for (let n = 0; n < 300; n += 1) {
    await service.logIn();
    const until = new Date(n * 1_000).toISOString().slice(0, 19);
    await Promise.all([0, 1, 2, 3].map((size) => service.report(`size=${1 + size}&created-to=${until}Z`)));
  }
}

const undisturbed = `killed 0, replaced 0, served ${kinds.join(', ')}, then a report 200`;

/** Runs a service in a control group of some MiB, or says that it refuses to start. */
async function observe(
  stage: Stage,
  place: FilledPlace,
  clients: readonly Credentials[],
  { mib, workers, from }: { readonly mib: number; readonly workers: number; readonly from: number },
): Promise<string> {
  const memory = limitMemory(stage, mib);
  const args = ['--workers', String(workers)];
  const started = await stage.serve(place, { program: memory.program, args }).catch((error: Error) => error.message);
  if (typeof started === 'string') return `refused: ${/are enough for (\d+)/.exec(started)?.[1] ?? started} possible`;
  const [idle, mix] = [memory.usedMib(), new Mix(stage, started, await logIn(started, clients), from)];
  let peak = idle;
  const sampling = setInterval(() => {
    peak = Math.max(peak, memory.usedMib());
  }, 25);
  await fillCaches(started);
  await mix.send().finally(() => clearInterval(sampling));
  stage.session.push(
    `workers ${workers} in ${mib} MiB: ${Math.round(idle)} MiB idle, at most ${Math.round(peak)} MiB under the mix`,
  );
  // on a busy machine, a worker may not get to run for ten seconds
  const silent = started.log.filter(({ msg }) => msg === 'a worker no longer responds; it is killed').length;
  if (silent > 0) stage.session.push(`${silent} workers did not respond in time`);
  const replaced = started.workers.length - workers - silent;
  await started.logIn();
  const report = await started.report();
  await started.stop('SIGKILL'); // exports that nobody reads would delay its end
  const served = kinds.filter((kind) => mix.served.has(kind)).join(', ');
  return `killed ${memory.kills()}, replaced ${replaced}, served ${served}, then a report ${report}`;
}

/** Runs 1 and 16 workers, and the most that are possible. */
const memoryDrill = (mib: number, most: number): Drill => {
  const counts = [...new Set([1, most, 16])];
  return {
    name: `memory-${mib}`,
    fault: `caches are filled; then the worst mix of loads, exports, pages and findings in a container of ${mib} MiB`,
    expected: counts
      .map((count) => `workers ${count}: ${count <= most ? undisturbed : `refused: ${most} possible`}`)
      .join('; '),
    needs: ['Linux', 'control groups'],
    async run(stage) {
      const place = await stage.sqlite();
      const clients = await fillTenants(place);
      const seen: string[] = [];
      for (const [n, workers] of counts.entries())
        seen.push(`workers ${workers}: ${await observe(stage, place, clients, { mib, workers, from: n * 10_000 })}`);
      return seen.join('; ');
    },
  };
};

export const memoryDrills: readonly Drill[] = [memoryDrill(512, 1), memoryDrill(1_024, 2), memoryDrill(2_048, 5)];
