import type { TenantId } from '../../packages/service/storage/store.ts';
import { findTenant } from '../../packages/service/storage/tables/tenant.ts';
import { compareSides, ratioOf, type Side } from '../support/compare.ts';
import { exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { readOptions } from '../support/options.ts';
import { getRequest, startOurs } from '../support/our-service.ts';
import { machineFacts, printSection } from '../support/results.ts';
import { openAny } from './stores.ts';

// What the parts of a question cost over HTTP, without the cache of pages: some fields beside all,
// a list of 1,000 ICCIDs, days of a time zone beside those of UTC. CPU time of the service and of
// PostgreSQL for each request.
//   npm run bench -- question
//   npm run bench -- question --records 100000 --rounds 2 --seconds 1 --engine sqlite

const options = readOptions({ records: 1_000_000, rounds: 7, seconds: 2, connections: 4 });
const fields = 'iccid,status,expirationDate,device_id,product.name';

interface Token {
  readonly port: number;
  readonly authorization: string;
}

/** A raw search. */
function searchRequest(body: object, { authorization }: Token): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `POST /connect-api/v1/subscription/search HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    'latin1',
  );
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** Requests of each kind of question by its name; each request of a kind is another one. */
async function questions(token: Token): Promise<ReadonlyMap<string, readonly Buffer[]>> {
  const { authorization } = token;
  const get = (query: string): Buffer => getRequest(`/connect-api/v1/subscription${query}`, { authorization });
  const pages = (size: number, more: string) =>
    range(300).map((page) =>
      get(`?size=${size}&page=${1 + ((page * 37) % Math.floor(options.records / size))}${more}`),
    );
  const lists = await listsOf(token);
  const search = (size: number, more: object = {}) =>
    lists.map((iccid) => searchRequest({ iccid, size, ...more }, token));
  // another bound each time
  const days = (more: string) =>
    range(300).map((second) =>
      get(
        `/summary?by=day&before=2025-12-31T00:00:00Z&after=2025-01-01T00:${String(second % 60).padStart(2, '0')}:0${second % 10}Z${more}`,
      ),
    );
  return new Map([
    ['50 records', pages(50, '')],
    ['50 records, 5 fields', pages(50, `&fields=${fields}`)],
    ['1,000 records', pages(1_000, '')],
    ['1,000 records, 5 fields', pages(1_000, `&fields=${fields}`)],
    ['CSV of 1,000 records', pages(1_000, '&format=csv')],
    ['CSV of 1,000 records, 5 fields', pages(1_000, `&format=csv&fields=${fields}`)],
    ['1,000 ICCIDs', search(1_000)],
    ['1,000 ICCIDs, 5 fields', search(1_000, { fields })],
    ['1,000 ICCIDs, first 20', search(20)],
    ['days of UTC', days('')],
    ['days of Berlin', days('&zone=Europe/Berlin')],
  ]);
}

/** Lists of 1,000 ICCIDs from all over the report. */
async function listsOf({ port, authorization }: Token): Promise<readonly (readonly string[])[]> {
  const response = await fetch(
    `http://127.0.0.1:${port}/connect-api/v1/subscription?all=true&format=ndjson&fields=iccid`,
    {
      headers: { authorization },
    },
  );
  const all = (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { iccid: string }).iccid);
  return range(40).map((list) => range(1_000).map((at) => all[((at * 40 + list) * 7_919) % all.length] ?? ''));
}

async function measure(engine: string): Promise<string> {
  const opened = await openAny(engine, options.records);
  const tenant = (await findTenant(opened.store, 'tenant-001'))?.tenant as TenantId;
  const service = await startOurs(opened, [tenant], { PAGE_CACHE_MIB: '0' });
  try {
    const token = { port: service.port, authorization: `Bearer ${service.tokens.get(tenant)}` };
    const { serverPid } = opened;
    const sides = [...(await questions(token))].map(
      ([name, requests]): Side => ({
        name,
        requests,
        status: 200,
        server: service,
        databaseSeconds: serverPid === undefined ? undefined : () => exactFamilyCpuSeconds(serverPid),
      }),
    );
    const measured = await compareSides(sides, options);
    return measured
      .map((side) => {
        const base =
          measured.find(
            ({ name }) => name === side.name.replace(/, .* fields$|, first 20$/, '').replace('Berlin', 'UTC'),
          ) ?? side;
        const { median, least, greatest } = ratioOf(side, base, 'totalUs');
        return `| ${side.name} | ${(side.totalUs / 1000).toFixed(2)} | ${median.toFixed(2)} (${least.toFixed(2)}–${greatest.toFixed(2)}) |`;
      })
      .join('\n');
  } finally {
    await service.stop();
    await opened.close();
  }
}

for (const engine of options.engines) {
  const table = await measure(engine);
  printSection(
    `Questions on ${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`,
    `| request | CPU ms | ratio |\n|---|---|---|\n${table}\n\n${new Date().toISOString().slice(0, 10)}; ${machineFacts()}.`,
  );
}
