import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { createClient } from '../../src/auth/clients/manage-clients.ts';
import { csvColumns } from '../../src/import/read-csv.ts';
import { syntheticRows } from '../../src/import/synthetic-rows.ts';
import { openStore } from '../../src/storage/open-store.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import type { ScriptedDrill } from './drill.ts';
import { DrilledService } from './drilled-service.ts';
import type { FilledPlace, Stage } from './stage.ts';

/** Longest time of a round of loads; what is not over then is aborted. */
const roundMs = 15_000;
const tenants = ['t1', 't2', 't3', 't4', 't5'];
/** Connections that request a page of some 2 MB and never read it. */
const unreadPages = 50;
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
function bodies(): readonly Body[] {
  const nested = `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}\n`;
  const near = JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`activationDat${n}`, n])));
  const cells = csvColumns.map((column) => (column === 'id' ? 'x'.repeat(15_000) : 'y')).join();
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
  return [
    { type: ndjson, body: gzipSync(nested.repeat(50)) },
    { type: ndjson, body: zstdCompressSync(Buffer.alloc(2 ** 27 + 1, 'x'), { params }) },
    { type: ndjson, body: gzipSync(longRows(3_000)) },
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

/** Resident memory in MiB of a process and those that it started. */
function memoryOf(root: number): number {
  const parents = new Map<number, { parent: number; mib: number }>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const number = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      parents.set(Number(name), { parent: number('PPid'), mib: number('VmRSS') / 1024 });
    } catch {
      // it has exited
    }
  }
  const below = (pid: number): number =>
    [...parents].reduce(
      (sum, [each, { parent }]) => (parent === pid ? sum + below(each) : sum),
      parents.get(pid)?.mib ?? 0,
    );
  return below(root);
}

/** Loads a body; resolves with the status, or why there is none. */
async function put(service: DrilledService, { tenant, token }: Sender, query: string, { type, body }: Body) {
  const url = `http://127.0.0.1:${service.managementPort}/operator/v1/tenants/${tenant}/subscriptions${query}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  const signal = AbortSignal.timeout(roundMs);
  return fetch(url, { method: 'PUT', headers, body: new Uint8Array(body), signal }).then(
    async (response) => `${response.status} ${(await response.text()).length > 0}`,
    (error: Error) => error.name,
  );
}

/** Reads a page that no cache has, in one of the codings. */
async function page(service: DrilledService, { token }: Sender, n: number): Promise<void> {
  const coding = ['identity', 'gzip', 'br', 'zstd'][n % 4] ?? '';
  const headers = { authorization: `Bearer ${token}`, 'accept-encoding': coding };
  const path = `/connect-api/v1/subscription?size=1000&created-from=2001-01-01T00:00:${String(n % 60).padStart(2, '0')}Z`;
  await fetch(service.url + path, { headers }).then(
    (response) => response.arrayBuffer(),
    () => undefined,
  );
}

/** Requests a path and never reads the response. */
function open(stage: Stage, service: DrilledService, path: string, { token }: Sender): void {
  const request = httpRequest(service.url + path, { headers: { authorization: `Bearer ${token}` }, agent: false });
  request.on('error', () => undefined).on('response', () => undefined);
  request.end();
  stage.defer(() => request.destroy());
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

/** Sends the worst mix of loads, exports and pages; returns the peak of the memory in MiB. */
async function sendWorstMix(service: DrilledService, stage: Stage, senders: readonly Sender[]): Promise<number> {
  const pid = service.command.child.pid ?? 0;
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid));
  }, 25);
  stage.defer(() => clearInterval(sampling));
  for (const sender of senders) await put(service, sender, '', { type: ndjson, body: gzipSync(longRows(1_000)) });
  for (const sender of senders) {
    for (const format of ['ndjson', 'csv'])
      open(stage, service, `/connect-api/v1/subscription?all=true&format=${format}`, sender);
    for (let n = 0; n < unreadPages / senders.length; n += 1)
      open(stage, service, `/connect-api/v1/subscription?size=1000&created-from=2002-01-01T00:00:0${n % 10}Z`, sender);
  }
  let pages = 0;
  for (const body of bodies()) {
    await Promise.all(
      senders.flatMap((sender) => [
        put(service, sender, '', body),
        put(service, sender, '?dry-run=true', body),
        ...Array.from({ length: 4 }, () => page(service, sender, pages++)),
      ]),
    );
  }
  return peak;
}

const memoryDrill = (containerMib: number): ScriptedDrill => ({
  name: `memory-${containerMib}`,
  fault: `the worst mix of loads, exports and pages with the heap of a container of ${containerMib} MiB`,
  expected: `at most ${containerMib} MiB; then a report 200`,
  needs: ['Linux'],
  async run(stage) {
    const place = await stage.sqlite();
    const clients = await fillTenants(place);
    // as Node.js limits it in such a container
    const environment = { NODE_OPTIONS: `--max-old-space-size=${containerMib / 2}` };
    const service = await stage.serve(place, { environment });
    const peak = await sendWorstMix(service, stage, await logIn(service, clients));
    stage.session.push(`peak of the memory: ${Math.round(peak)} MiB`);
    await service.logIn();
    const memory = peak <= containerMib ? `at most ${containerMib}` : `${Math.round(peak)}`;
    return `${memory} MiB; then a report ${await service.report()}`;
  },
});

export const memoryDrills: readonly ScriptedDrill[] = [memoryDrill(512), memoryDrill(1_024)];
