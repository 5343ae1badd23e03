import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nowSeconds } from '../../src/cli/store-session.ts';
import { defaultPageLimits } from '../../src/contract/page-limits.ts';
import { listSubscriptions } from '../../src/report/list-subscriptions.ts';
import { parseReport } from '../../src/report/parse.ts';
import { planReport } from '../../src/report/plan.ts';
import { SpanMemory } from '../../src/storage/counts/span-memory.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import { median } from '../support/median.ts';
import { machineFacts } from '../support/results.ts';
import { measureFilledStores } from './data-set.ts';
import { startHttpReader } from './http-reader.ts';
import { offsetPage } from './offset-page.ts';

// What a page by number costs, its exact total included, at every depth of the largest tenant;
// beside it the same page by OFFSET and count(*). One run, rounds alternating over all cases,
// medians; ratios are what travels to other machines.
//   npm run bench:deep                 1 million records, 200,000 of one tenant; and 10,000 records
//   npm run bench:deep -- --records 10000 --records 1000000 --records 10000000 --save

const { values: args } = parseArgs({
  options: {
    records: { type: 'string', multiple: true, default: ['10000', '1000000'] },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    rounds: { type: 'string', default: '60' },
    save: { type: 'boolean', default: false },
  },
});
const rounds = Number(args.rounds);
/** The OFFSET statements take up to seconds each, so they get fewer rounds. */
const oldRounds = Math.min(rounds, 3);
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
const depths = { 'page 1': 0, '50 %': 0.5, '99 %': 0.99 } as const;
type Depth = keyof typeof depths;

interface Measured {
  readonly engine: string;
  readonly records: number;
  readonly filter: string;
  readonly total: number;
  /**
   * Median milliseconds of a page with its total, by depth: over HTTP; from parsing to the complete
   * response; and with OFFSET and count(*).
   */
  readonly http: Readonly<Record<Depth, number>>;
  readonly kept: Readonly<Record<Depth, number>>;
  readonly offset: Readonly<Record<Depth, number>>;
}

const report = toMarkdown(await measureFilledStores(args, measureStore));
console.log(report);
if (args.save) writeFileSync(new URL('../results/deep-page.md', import.meta.url), `${report}\n`);

async function measureStore(store: Store, tenant: TenantId, records: number): Promise<Measured[]> {
  // loads none: what is measured is the counts in the store
  const spans = new SpanMemory({ leavesPerAsk: 0 });
  const context = { store, spans, limits: defaultPageLimits, now: nowSeconds, reportUrl: 'http://localhost/r' };
  const cases = await Promise.all(
    Object.entries(filters).map(async ([filter, query]) => {
      const { headers } = await listSubscriptions(
        context,
        tenant,
        parseReport(`size=${size}${query}`, context, 'json'),
      );
      return { filter, query, total: Number(headers['x-total-count']) };
    }),
  );
  const reader = await startHttpReader(store, tenant);
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const { filter, query, total } of cases) {
      for (const [depth, share] of Object.entries(depths)) {
        const page = 1 + Math.floor((total / size) * share * (1 - 0.001 * (round % 10)));
        const queryString = `size=${size}${query}&page=${page}`;
        const run = async (side: string, work: () => Promise<unknown>): Promise<void> => {
          const started = performance.now();
          await work();
          const key = `${side} ${filter} ${depth}`;
          times.set(key, [...(times.get(key) ?? []), performance.now() - started]);
        };
        await run('http', () => reader.read(queryString));
        await run('kept', () => listSubscriptions(context, tenant, parseReport(queryString, context, 'json')));
        if (round < oldRounds) await run('offset', () => readByOffset(store, tenant, queryString));
      }
    }
  }
  await reader.close();
  const side = (name: string, filter: string) =>
    Object.fromEntries(
      Object.keys(depths).map((depth) => [depth, median(times.get(`${name} ${filter} ${depth}`) ?? [])]),
    ) as Record<Depth, number>;
  return cases.map(({ filter, total }) => ({
    engine: store.engine,
    records,
    filter,
    total,
    http: side('http', filter),
    kept: side('kept', filter),
    offset: side('offset', filter),
  }));
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

function toMarkdown(measured: readonly Measured[]): string {
  const ratio = (a: number, b: number): string => (a / b).toFixed(a / b < 10 ? 2 : 0);
  const share = (times: Readonly<Record<Depth, number>>, depth: Depth): string => ratio(times[depth], times['page 1']);
  const depthRows = measured.map(({ engine, records, filter, total, http, kept, offset }) => {
    const deep = (['50 %', '99 %'] as const).flatMap((depth) => [share(http, depth), share(kept, depth)]);
    const against = (Object.keys(depths) as Depth[]).map((depth) => ratio(offset[depth], kept[depth]));
    const cells = [
      engine,
      records.toLocaleString('en'),
      filter,
      total.toLocaleString('en'),
      http['page 1'].toFixed(2),
      ...deep,
      ...against,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const smallest = Math.min(...measured.map(({ records }) => records));
  const growthRows = measured
    .filter(({ records }) => records > smallest)
    .flatMap(({ engine, records, filter, http }) => {
      const base = measured.find(
        (each) => each.engine === engine && each.filter === filter && each.records === smallest,
      );
      if (base === undefined) return [];
      const sizes = `${smallest.toLocaleString('en')} → ${records.toLocaleString('en')}`;
      return [
        `| ${engine} | ${filter} | ${sizes} | ${ratio(http['page 1'], base.http['page 1'])} | ${ratio(http['99 %'], base.http['99 %'])} |`,
      ];
    });
  return `# A page by number, with its exact total

\`npm run bench:deep\`, ${size} records a page, for the tenant with a fifth of all records, a tenth of which share one createdDate. Medians of ${rounds} rounds (${oldRounds} of
OFFSET and count(*)), with all cases alternating. "HTTP": measured by a client with a token and a keep-alive connection, service and client in one process, without the response cache, with
cached spans. "Inside": from parsing to the complete response, without cached spans. Measured after vacuum and analyze.

${machineFacts('PostgreSQL 18 over loopback with 2 GB of shared buffers, fsync off')}. The machine was shared: only the ratios are reliable.

| engine | records | filter | total | page 1, HTTP, ms | 50 % ÷ page 1, HTTP | inside | 99 % ÷ page 1, HTTP | inside | OFFSET ÷ inside, page 1 | 50 % | 99 % |
|---|---|---|---|---|---|---|---|---|---|---|---|
${depthRows.join('\n')}

Ratio of the same page of the same filter between sizes of the database, HTTP:

| engine | filter | records | page 1 | 99 % |
|---|---|---|---|---|
${growthRows.join('\n')}`;
}
