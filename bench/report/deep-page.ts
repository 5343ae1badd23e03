import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nowSeconds } from '../../src/cli/store/now-seconds.ts';
import { defaultPageLimits } from '../../src/contract/report.ts';
import { listSubscriptions } from '../../src/report/list-subscriptions.ts';
import { parseReport } from '../../src/report/parse.ts';
import { planReport } from '../../src/report/plan.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import { exactCpuSeconds, exactFamilyCpuSeconds } from '../support/exact-cpu.ts';
import { median } from '../support/median.ts';
import { startOurs } from '../support/our-service.ts';
import { type FilledStore, measureFilledStores } from './data-set.ts';
import { type Depth, depths, type Measured, toMarkdown } from './deep-page-results.ts';
import { offsetPage } from './offset-page.ts';

// What a page by number costs, its exact total included, at every depth of the largest tenant;
// beside it the same page by OFFSET and count(*). CPU time of service and database. One run, rounds
// alternating over all cases, medians; ratios are what travels to other machines.
//   npm run bench -- deep          1 million records, 200,000 of one tenant; and 10,000 records
//   npm run bench -- deep --records 10000 --records 1000000 --records 10000000 --save

const { values: args } = parseArgs({
  options: {
    records: { type: 'string', multiple: true, default: ['10000', '1000000'] },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    rounds: { type: 'string', default: '40' },
    'offset-rounds': { type: 'string', default: '3' },
    save: { type: 'boolean', default: false },
  },
});
const rounds = Number(args.rounds);
/** The OFFSET statements take up to seconds each, so they get fewer rounds. */
const oldRounds = Math.min(rounds, Number(args['offset-rounds']));
/** The first rounds are not counted: programs are compiled and statements prepared in them. */
const warmUpRounds = 5;
/** Pages of one case between two readings of the CPU time. */
const pagesOfRound = 8;
const size = 50;

const filters: Readonly<Record<string, string>> = {
  none: '',
  'newest first': '&sort=-createdDate',
  product: '&product-id=P5',
  status: '&status=EXPIRED',
  'two statuses': '&status=EXPIRED,DEPLETED',
  'rare status': '&status=SUSPENDED',
  'product and statuses': '&product-id=P5&status=EXPIRED,DEPLETED',
  'after and before': '&after=2023-02-01T00:00:00Z&before=2025-11-01T00:00:00Z',
  'all of them': '&product-id=P5&status=EXPIRED,PENDING&after=2023-02-01T00:00:00Z&before=2025-11-01T00:00:00Z',
};

const report = toMarkdown(await measureFilledStores(args, measureStore), { size, rounds, oldRounds });
console.log(report);
if (args.save) writeFileSync(new URL('../results/deep-page.md', import.meta.url), `${report}\n`);

async function measureStore(filled: FilledStore): Promise<Measured[]> {
  const { store, tenant, records, serverPid } = filled;
  const service = await startService(filled);
  // without remembered ranges: what is measured is the counts in the store
  const context = { store, limits: defaultPageLimits, now: nowSeconds, reportUrl: 'http://localhost/r' };
  const readInside = (query: string) => listSubscriptions(context, tenant, parseReport(query, context, 'json'));
  const sides = {
    http: { cpuSeconds: () => exactCpuSeconds(service.pid), read: service.read, pages: pagesOfRound, rounds },
    inside: { cpuSeconds: ownCpuSeconds, read: readInside, pages: pagesOfRound, rounds },
    offset: {
      cpuSeconds: ownCpuSeconds,
      read: (query: string) => readByOffset(store, tenant, query),
      pages: 1,
      rounds: oldRounds,
    },
  };
  const databaseSeconds = (): number => (serverPid === undefined ? 0 : exactFamilyCpuSeconds(serverPid));
  const totals = new Map<string, number>();
  for (const [filter, query] of Object.entries(filters)) {
    const { headers } = await readInside(`size=${size}${query}`);
    totals.set(filter, Number(headers['x-total-count']));
  }
  const cpu = new Map<string, number[]>();
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const [filter, total] of totals) {
      for (const [depth, share] of Object.entries(depths)) {
        for (const [name, side] of Object.entries(sides)) {
          if (round >= side.rounds) continue;
          const pages = Array.from({ length: side.pages }, (_, index) => pageAt(total, share, round + index));
          // the database last, so that reading its times is not counted
          const before = [databaseSeconds(), side.cpuSeconds()] as const;
          for (const page of pages) await side.read(`size=${size}${filters[filter]}&page=${page}`);
          const used = side.cpuSeconds() - before[1] + (databaseSeconds() - before[0]);
          const key = `${name} ${filter} ${depth}`;
          if (round >= 0) cpu.set(key, [...(cpu.get(key) ?? []), (used / pages.length) * 1e6]);
        }
      }
    }
  }
  await service.stop();
  const byDepth = (side: keyof typeof sides, filter: string) =>
    Object.fromEntries(
      Object.keys(depths).map((depth) => [depth, median(cpu.get(`${side} ${filter} ${depth}`) ?? [])]),
    ) as Record<Depth, number>;
  return [...totals].map(([filter, total]) => ({
    engine: store.engine,
    records,
    filter,
    total,
    http: byDepth('http', filter),
    inside: byDepth('inside', filter),
    offset: byDepth('offset', filter),
  }));
}

/** Unlike `/proc`, this includes the time since the scheduler last looked. */
function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * A page at a share of the full pages; they differ between rounds. The last page is left out: it
 * would be compared with a page of more records.
 */
function pageAt(total: number, share: number, round: number): number {
  const full = Math.max(1, Math.floor(total / size));
  return 1 + Math.floor((full - 1) * share * (1 - 0.001 * Math.abs(round % 10)));
}

/** Our service in a separate process, without the response cache. */
async function startService({ store, tenant, environment }: FilledStore) {
  const { pid, port, tokens, stop } = await startOurs({ store, environment }, [tenant], { PAGE_CACHE_MIB: '0' });
  const headers = { authorization: `Bearer ${tokens.get(tenant)}` };
  return {
    pid,
    stop,
    async read(query: string): Promise<void> {
      const response = await fetch(`http://127.0.0.1:${port}/connect-api/v1/subscription?${query}`, { headers });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`the service answered ${response.status}`);
    },
  };
}

/**
 * The same page as read before counts were maintained: parsed and planned in the same way, then
 * OFFSET and count(*).
 */
function readByOffset(store: Store, tenant: TenantId, queryString: string): Promise<unknown> {
  const plan = planReport(
    parseReport(queryString, { limits: defaultPageLimits, now: nowSeconds }, 'json'),
    defaultPageLimits.firstPage,
  );
  return store.readTenant(tenant, (reader) => offsetPage(reader, plan));
}
