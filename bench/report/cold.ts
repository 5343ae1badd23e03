import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { startPeers } from '../peers/start-peer.ts';
import { startRaw } from '../peers/start-raw.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { compareSides, type Measured, ratioOf, type Side } from '../support/compare.ts';
import { loadDataSet } from '../support/data-set.ts';
import { readOptions } from '../support/options.ts';
import { type OurService, startOurs } from '../support/our-service.ts';
import { treeCpuSeconds } from '../support/process-tree.ts';
import { machineFacts, printSection, resultTable } from '../support/results.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { asRequests, fetchPage, type PageRequest, randomPages } from './page-requests.ts';

// Cold: page 1 of any of 200 tenants in any twelve months, queries that recur, as those of
// dashboards do, bounds that were never sent before, and the page after it by cursor. Compares our
// service with node:http that sends the same bytes and, on one PostgreSQL, with the hand-written
// peer and the method of PostgREST. Prints the ratios that have a limit.
//   node bench/report/cold.ts                                       a million records
//   node bench/report/cold.ts --records 100000 --engine sqlite
//   node bench/report/cold.ts --base ../before            another checkout beside it

const tenantCount = 200;
const recurringPages = 1_500;
/** So many that their ranges are no longer remembered when they are sent again. */
const newPages = 100_000;
/** Each round sends other ones of them: more than a service reads in a round. */
const newPagesOfRound = 13_000;
/** Until V8 has optimized all sides. */
const warmUpSeconds = 10;
const options = readOptions({ records: 1_000_000 });
const description = `${options.records} records of ${tenantCount} tenants (Zipf), 40 products; a full page 1 of 50 records, random tenant, random twelve months of createdDate, newest
first, valid token, exact total. Recurring: ${recurringPages} different queries that come again; new bounds: ${newPages}, each forgotten when it comes again. ${options.rounds} rounds of ${options.seconds} s a side, ${options.connections} connections. "With access log": ours at its default
LOG_LEVEL, written to /dev/null; the other sides write none. "With the database": CPU time of the service and of PostgreSQL.
Raw sends one of the pages.`;

/** Both must return the same records, otherwise the comparison is meaningless. */
async function requireSameAnswers(ours: OurService, peer: OurService, pages: readonly PageRequest[]): Promise<void> {
  for (const page of pages) {
    const [own, other] = [await fetchPage(ours.port, page, ours.tokens), await fetchPage(peer.port, page, peer.tokens)];
    const [ownBody, otherBody] = [await own.text(), await other.text()];
    const total = own.headers.get('x-total-count');
    if (ownBody !== otherBody || total !== other.headers.get('x-total-count') || total === null)
      throw new Error(`Cannot compare: both must answer the same: ${page.path}\n${ownBody}\n${otherBody}`);
  }
}

/** The same for a peer that formats the records in another way. */
async function requireSameRecords(ours: OurService, peer: OurService, pages: readonly PageRequest[]): Promise<void> {
  for (const page of pages) {
    const both: string[] = [];
    for (const side of [ours, peer]) {
      const response = await fetchPage(side.port, page, side.tokens);
      const records = (await response.json()) as readonly { readonly id: string; readonly product: { id: string } }[];
      both.push(
        JSON.stringify([response.headers.get('x-total-count'), records.map(({ id, product }) => [id, product.id])]),
      );
    }
    if (both[0] !== both[1])
      throw new Error(`Cannot compare: both must answer the same: ${page.path}\n${both.join('\n')}`);
  }
}

type Tenants = Awaited<ReturnType<typeof loadDataSet>>;

/** A full first page, and the page after it by cursor. */
interface Walk {
  readonly first: PageRequest;
  readonly next: PageRequest;
}

/** The walks that begin with these pages, where there is a following page. */
async function findWalks(ours: OurService, pages: readonly PageRequest[]): Promise<readonly Walk[]> {
  const walks: Walk[] = [];
  for (let at = 0; at < pages.length; at += 32)
    walks.push(...(await Promise.all(pages.slice(at, at + 32).map((first) => findWalk(ours, first)))).flat());
  return walks;
}

/** Walks of random tenants, as often as random pages of theirs are full, and these tenants. */
async function findFullWalks(ours: OurService, tenants: Tenants) {
  const full = (await findWalks(ours, randomPages(tenants, recurringPages))).map((walk) => walk.first.tenant);
  if (full.length === 0)
    throw new RangeError(
      `Cannot measure: --records must be so many that a page of twelve months has a following one: current value is ${options.records}`,
    );
  return { full, walks: await findWalks(ours, randomPages(full, recurringPages)) };
}

async function findWalk(ours: OurService, first: PageRequest): Promise<readonly Walk[]> {
  const response = await fetchPage(ours.port, first, ours.tokens);
  await response.arrayBuffer();
  const link = response.headers.get('x-next-page');
  if (link === null) return [];
  const { pathname, search } = new URL(link);
  return [{ first, next: { tenant: first.tenant, path: pathname + search } }];
}

const names = {
  ours: 'ours, recurring',
  fresh: 'ours, new bounds',
  base: 'before, recurring',
  baseFresh: 'before, new bounds',
  logging: 'ours, recurring, with access log',
  next: 'ours, next page by cursor',
  peer: 'peer',
  peerFresh: 'peer, new bounds',
  postgrest: "PostgREST's method",
  raw: 'raw',
} as const;

/** The ratios that have a limit, by CPU time. */
function goalTable(measured: readonly Measured[], isSqlite: boolean): string {
  const rows: string[] = [];
  const add = (goal: string, side: string, base: string, figure: 'cpuUs' | 'totalUs', limit?: number): void => {
    const [first, second] = [side, base].map((name) => measured.find((each) => each.name === name));
    if (first === undefined || second === undefined) return;
    const { median, least, greatest } = ratioOf(first, second, figure);
    const range = `${median.toPrecision(3)} (${least.toPrecision(2)}–${greatest.toPrecision(2)})`;
    rows.push(`| ${goal} | ${range} | ${limit === undefined ? '' : `≤ ${limit.toPrecision(2)}`} |`);
  };
  add('recurring page 1, CPU of the service ÷ raw', names.ours, names.raw, 'cpuUs', isSqlite ? 9 : 8);
  add('recurring page 1, service and database ÷ peer and its database', names.ours, names.peer, 'totalUs', 1 / 4.3);
  add('new bounds, the same', names.fresh, names.peerFresh, 'totalUs', 1 / 2.5);
  add("recurring page 1 ÷ PostgREST's method, service and database", names.ours, names.postgrest, 'totalUs', 1 / 3.4);
  add('before, recurring', names.base, names.peer, 'totalUs');
  add('before, new bounds', names.baseFresh, names.peerFresh, 'totalUs');
  add('next page by cursor ÷ recurring page 1, service and database', names.next, names.ours, 'totalUs');
  return ['| CPU time | ratio | goal |', '|---|---|---|', ...rows].join('\n');
}

/** The main module of another version, which may have its sources elsewhere. */
const mainOf = (folder: string): string =>
  ['packages/service/cli/main.ts', 'src/cli/main.ts'].map((file) => resolve(folder, file)).find(existsSync) ?? folder;

async function measure(
  name: string,
  opened: BenchStore,
  peersOf: (store: BenchStore, tenants: Tenants) => Promise<readonly OurService[]>,
): Promise<void> {
  const running: ServerProcess[] = [];
  const { serverPid } = opened;
  try {
    const began = performance.now();
    const tenants = await loadDataSet(opened.store, options.records, tenantCount);
    console.log(`${name}: loaded in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    const [peer, postgrest] = await peersOf(opened, tenants);
    for (const each of [peer, postgrest]) if (each !== undefined) running.push(each);
    const ours = await startOurs(opened, tenants);
    const base = options.base && (await startOurs(opened, tenants, {}, mainOf(options.base)));
    if (base) running.push(base);
    const logging = await startOurs(opened, tenants, { LOG_LEVEL: 'info' });
    // its own process, so that its ranges evict none of those that recur
    const forgetful = await startOurs(opened, tenants);
    running.push(ours, logging, forgetful);
    const { walks, full } = await findFullWalks(logging, tenants);
    const pages = walks.map((walk) => walk.first);
    const fresh = randomPages(full, newPages);
    const [first] = pages as [PageRequest, ...PageRequest[]];
    const raw = await startRaw(await fetchPage(ours.port, first, ours.tokens), opened.folder);
    running.push(raw);
    if (peer !== undefined) await requireSameAnswers(ours, peer, pages.slice(0, 40));
    if (postgrest !== undefined) await requireSameRecords(ours, postgrest, pages.slice(0, 40));
    const databaseSeconds = serverPid === undefined ? undefined : () => treeCpuSeconds(serverPid);
    const side = (of: string, server: OurService, sent: readonly PageRequest[] = pages): Side => ({
      name: of,
      server,
      requests: asRequests(sent, server.tokens),
      status: 200,
      databaseSeconds: of === names.raw ? undefined : databaseSeconds,
    });
    /** A side that begins each round with other pages, as a round begins with its first request. */
    const sideOfNew = (of: string, server: OurService): Side => {
      const all = asRequests(fresh, server.tokens);
      let begin = 0;
      return {
        ...side(of, server, []),
        get requests() {
          begin = (begin + newPagesOfRound) % newPages;
          return [...all.slice(begin), ...all.slice(0, begin)];
        },
      };
    };
    const measured = await compareSides(
      [
        side(names.ours, ours),
        sideOfNew(names.fresh, forgetful),
        ...(base ? [side(names.base, base), sideOfNew(names.baseFresh, base)] : []),
        side(names.logging, logging),
        side(
          names.next,
          ours,
          walks.map(({ next }) => next),
        ),
        ...(peer === undefined ? [] : [side(names.peer, peer), sideOfNew(names.peerFresh, peer)]),
        ...(postgrest === undefined ? [] : [side(names.postgrest, postgrest)]),
        side(names.raw, { ...raw, tokens: ours.tokens }),
      ],
      { ...options, warmUpSeconds },
    );
    const tables = [
      resultTable(measured, peer === undefined ? names.raw : names.peer),
      goalTable(measured, peer === undefined),
    ];
    const text = `${description}\n\n${machineFacts()}.\n\n${tables.join('\n\n')}`;
    printSection(`Cold, ${name}`, text);
  } finally {
    for (const each of running) await each.stop();
    await opened.close();
  }
}

if (options.engines.includes('postgres'))
  await measure('PostgreSQL, against Fastify + pg', await openBenchPostgres(), async (opened, tenants) => {
    const peers = await startPeers(opened, tenants, ['fastify-pg.ts', 'postgrest.ts']);
    await opened.administer('vacuum analyze');
    return peers;
  });
if (options.engines.includes('sqlite'))
  await measure('SQLite, against raw node:http', await openBenchSqlite(), async () => []);
