import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { startPeers } from '../peers/start-peer.ts';
import { startRaw } from '../peers/start-raw.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { compareSides, type Measured, ratioOf, type Side } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { median } from '../support/median.ts';
import { readOptions } from '../support/options.ts';
import { type OurService, startOurs } from '../support/our-service.ts';
import { treeCpuSeconds } from '../support/process-tree.ts';
import { machineFacts, printSection, today } from '../support/results.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { asRequests, fetchPage, type PageRequest, randomPages } from './page-requests.ts';

// A page of 50 records of any of 200 tenants within any twelve months. Compares our service on both
// engines with the hand-written handler and the method of PostgREST on one PostgreSQL, and with
// node:http that sends the same bytes. Prints the ratios that have a limit.
//   node bench/report/cold.ts --records 100000 --engine sqlite
//   node bench/report/cold.ts --base ../before            another checkout beside it

const tenantCount = 200;
const recurringPages = 1_500;
/** Of a round: more than any side reads in it. */
const newPages = 40_000;
const options = readOptions({ records: 1_000_000 });
/** Until V8 has optimized all sides, with the default options. */
const warmUpSeconds = 1 + 3 * options.seconds;
const description = `\`npm run bench -- report\`, ${today()}: ${options.records.toLocaleString('en')} records of ${tenantCount} tenants (Zipf), 40 products; page 1 of 50 records of a random tenant and random twelve months, newest first, with token and exact total; ${options.rounds} rounds
of ${options.seconds} s, ${options.connections} connections. New bounds: no request had its bounds before; recurring: ${recurringPages} requests come again; deep: any page of new bounds. CPU time of service and database, median (least–greatest round); ≤ is the goal.
The handler is [fastify-pg.ts](peers/fastify-pg.ts), which remembers tokens as the service does; raw is \`node:http\` that sends the same bytes.`;

/** All must return the same records and total, or the comparison is meaningless. */
async function requireSameRecords(sides: readonly OurService[], pages: readonly PageRequest[]): Promise<void> {
  for (const page of pages) {
    const answers = new Set<string>();
    for (const side of sides) {
      const response = await fetchPage(side.port, page, side.tokens);
      const records = (await response.json()) as readonly { readonly id: string; readonly product: { id: string } }[];
      answers.add(
        JSON.stringify([response.headers.get('x-total-count'), records.map(({ id, product }) => [id, product.id])]),
      );
    }
    if (answers.size !== 1)
      throw new Error(`Cannot compare: all must answer the same: ${page.path}\n${[...answers].join('\n')}`);
  }
}

type Tenants = Awaited<ReturnType<typeof loadDataSet>>;

/** A full first page, the page after it by cursor, and how many pages there are. */
interface Walk {
  readonly first: PageRequest;
  readonly next: PageRequest;
  readonly pages: number;
}

/** The walks that begin with these pages, where there is a following page. */
async function findWalks(ours: OurService, pages: readonly PageRequest[]): Promise<readonly Walk[]> {
  const walks: Walk[] = [];
  for (let at = 0; at < pages.length; at += 32)
    walks.push(...(await Promise.all(pages.slice(at, at + 32).map((first) => findWalk(ours, first)))).flat());
  if (walks.length > 0) return walks;
  throw new RangeError(
    `Cannot measure: --records must be so many that a page of twelve months has a following one: current value is ${options.records}`,
  );
}

async function findWalk(ours: OurService, first: PageRequest): Promise<readonly Walk[]> {
  const response = await fetchPage(ours.port, first, ours.tokens);
  await response.arrayBuffer();
  const link = response.headers.get('x-next-page');
  if (link === null) return [];
  const { pathname, search } = new URL(link);
  const next = { tenant: first.tenant, path: pathname + search };
  return [{ first, next, pages: Number(response.headers.get('x-total-pages')) }];
}

const fresh = 'new bounds';
const recurring = 'recurring';
const deep = 'deep, new bounds';
const next = 'next page by cursor';
const logging = 'new bounds, with access log';
const before = 'before';
const handler = 'handler';
const postgrest = "PostgREST's method, new bounds";
const raw = 'raw';

/** The ratios by CPU time, with their limits on SQLite and on PostgreSQL. */
const ratios: readonly (readonly [side: string, base: string, limits?: readonly [number, number]])[] = [
  [fresh, `${handler}, ${fresh}`, [0.22, 0.4]],
  [recurring, `${handler}, ${recurring}`, [0.16, 0.27]],
  [postgrest, `${handler}, ${fresh}`],
  [deep, fresh, [1.3, 1.3]],
  [deep, `${handler}, ${deep}`],
  [next, recurring],
  [logging, fresh],
  [fresh, raw, [8, 20]],
  [`${before}, ${fresh}`, `${handler}, ${fresh}`],
  [`${before}, ${recurring}`, `${handler}, ${recurring}`],
];

const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

function ratioTable(measured: readonly Measured[]): string {
  const find = (...names: readonly string[]) => measured.find(({ name }) => names.includes(name));
  const rows = ratios.flatMap(([side, base, limits]) => {
    const cells = Object.values(engines).map((engine, index) => {
      const sides = [`${engine}, ${side}`, ...(index === 1 ? [side] : [])];
      const [first, second] = [find(...sides), find(base, `${engine}, ${base}`)];
      if (first === undefined || second === undefined) return '–';
      const { median, least, greatest } = ratioOf(first, second, 'totalUs');
      const limit = limits === undefined ? '' : `; ≤ ${limits[index]}`;
      return `${median.toPrecision(2)} (${least.toPrecision(2)}–${greatest.toPrecision(2)})${limit}`;
    });
    return cells.every((cell) => cell === '–') ? [] : [`| ${side} ÷ ${base} | ${cells.join(' | ')} |`];
  });
  return [`| CPU time | ${Object.values(engines).join(' | ')} |`, '|---|---|---|', ...rows].join('\n');
}

/** The median of what `Server-Timing` says of a stage of requests one by one, in microseconds. */
async function stageTimes(ours: OurService, pages: readonly PageRequest[]): Promise<readonly number[]> {
  const headers: string[] = [];
  for (const page of pages) {
    const response = await fetchPage(ours.port, page, ours.tokens);
    await response.arrayBuffer();
    headers.push(response.headers.get('server-timing') ?? '');
  }
  const of = (stage: string) => headers.map((text) => 1000 * Number(text.split(`${stage};dur=`)[1]?.split(',')[0]));
  return ['parse', 'plan', 'run', 'format'].map((stage) => median(of(stage)));
}

/** What a page of new bounds costs: its stages, and the CPU time of both processes. */
function costTable(measured: readonly Measured[], stages: ReadonlyMap<string, readonly number[]>): string {
  const find = (name: string) => measured.find((each) => each.name === name);
  const rows = [...stages].map(([engine, times]) => {
    const { cpuUs = 0, totalUs = 0 } = find(`${engine}, ${fresh}`) ?? {};
    const figures = [find(raw)?.cpuUs ?? 0, ...times, cpuUs, totalUs - cpuUs].map((us) => us.toFixed(0));
    return `| ${engine} | ${figures.join(' | ')} |`;
  });
  const head = '| µs, new bounds | raw | parse | plan | run | format | CPU of the service | of PostgreSQL |';
  return [head, '|---|---|---|---|---|---|---|---|', ...rows].join('\n');
}

/** The main module of another version, which may have its sources elsewhere. */
const mainOf = (folder: string): string =>
  ['packages/service/cli/main.ts', 'src/cli/main.ts'].map((file) => resolve(folder, file)).find(existsSync) ?? folder;

const [running, opened]: [ServerProcess[], BenchStore[]] = [[], []];

function load(store: BenchStore): Promise<Tenants> {
  opened.push(store);
  return loadDataSet(store.store, options.records, tenantCount);
}

async function start(store: BenchStore, tenants: Tenants, more?: Record<string, string>, main?: string) {
  const service = await startOurs(store, tenants, more, main);
  running.push(service);
  return service;
}

try {
  const postgres = await openBenchPostgres();
  const tenants = await load(postgres);
  const [peer, method] = await startPeers(postgres, tenants, ['fastify-pg.ts', 'postgrest.ts']);
  if (peer === undefined || method === undefined) throw new TypeError('Cannot compare: both peers must run');
  running.push(peer, method);
  await postgres.administer('vacuum analyze');
  const { serverPid = 0 } = postgres;
  const finder = await start(postgres, tenants);
  // of tenants whose random pages have a following one
  const full = (await findWalks(finder, randomPages(tenants, recurringPages))).map(({ first }) => first.tenant);
  const walks = await findWalks(finder, randomPages(full, recurringPages));
  const firsts = walks.map(({ first }) => first);
  const pagesOf = new Map<TenantId, number>();
  for (const { first, pages } of walks) pagesOf.set(first.tenant, Math.min(pages, pagesOf.get(first.tenant) ?? pages));
  const answer = await fetchPage(finder.port, firsts[0] as PageRequest, finder.tokens);
  const rawServer = await startRaw(answer, postgres.folder);
  running.push(rawServer);

  const side = (
    name: string,
    server: OurService,
    requests: () => readonly PageRequest[],
    hasDatabase = true,
  ): Side => ({
    name,
    server,
    get requests() {
      return asRequests(requests(), server.tokens);
    },
    status: 200,
    databaseSeconds: hasDatabase ? () => treeCpuSeconds(serverPid) : undefined,
  });
  const newFirsts = () => randomPages(full, newPages);
  const newDeep = () => randomPages([...pagesOf.keys()], newPages, pagesOf);
  const services = new Map<string, OurService>();
  const sides: Side[] = [
    side(`${handler}, ${fresh}`, peer, newFirsts),
    side(`${handler}, ${recurring}`, peer, () => firsts),
    side(`${handler}, ${deep}`, peer, newDeep),
    side(postgrest, method, newFirsts),
    side(raw, { ...rawServer, tokens: finder.tokens }, () => firsts, false),
  ];
  for (const [engine, name] of Object.entries(engines)) {
    if (!options.engines.includes(engine)) continue;
    const hasDatabase = engine === 'postgres';
    const store = hasDatabase ? postgres : await openBenchSqlite();
    if (!hasDatabase) await load(store);
    const add = (of: string, server: OurService, requests: () => readonly PageRequest[]) =>
      sides.push(side(`${name}, ${of}`, server, requests, hasDatabase));
    // a process of its own, so that new bounds evict none of those that recur
    const [ours, forgetful] = [await start(store, tenants), await start(store, tenants)];
    await requireSameRecords([ours, peer, method], firsts.slice(0, 40));
    add(fresh, forgetful, newFirsts);
    services.set(name, forgetful);
    add(recurring, ours, () => firsts);
    add(deep, forgetful, newDeep);
    add(next, ours, () => walks.map((walk) => walk.next));
    add(logging, await start(store, tenants, { LOG_LEVEL: 'info' }), newFirsts);
    if (options.base === undefined) continue;
    const base = await start(store, tenants, {}, mainOf(options.base));
    add(`${before}, ${fresh}`, base, newFirsts);
    add(`${before}, ${recurring}`, base, () => firsts);
  }
  const measured = await compareSides(sides, { ...options, warmUpSeconds });
  const stages = new Map<string, readonly number[]>();
  for (const [name, ours] of services) stages.set(name, await stageTimes(ours, randomPages(full, 300)));
  console.log(machineFacts());
  console.table(measured.map(({ rounds: _all, ...medians }) => medians));
  printSection('Pages', [description, ratioTable(measured), costTable(measured, stages)].join('\n\n'), options.write);
} finally {
  for (const each of running) await each.stop();
  for (const each of opened) await each.close();
}
