import { parseArgs } from 'node:util';
import { createClient } from '../../src/auth/clients/manage-clients.ts';
import type { TenantId } from '../../src/storage/store.ts';
import { randomPages } from '../report/page-requests.ts';
import { type BenchStore, openBenchPostgres, openBenchSqlite } from '../support/bench-store.ts';
import { loadDataSet, until } from '../support/data-set.ts';
import { median } from '../support/median.ts';
import { getRequest, type OurService, startOurs } from '../support/our-service.ts';
import { machineFacts } from '../support/results.ts';
import { type Experience, runPair } from './pair.ts';

// A quiet tenant alone and beside a greedy one. The quiet tenant sends some requests per second.
// The greedy one always has 100 in progress, so that it uses all that the service can serve: ten
// times its share among ten tenants, on a machine of any speed.
//   node bench/fairness/bench.ts --engine sqlite --scenario page/page --rounds 3 --seconds 4

const { values: args } = parseArgs({
  options: {
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    scenario: { type: 'string', multiple: true },
    records: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    rate: { type: 'string', default: '20' },
  },
});
const seconds = Number(args.seconds);
const tenantCount = 10;
const pace = { perSecond: Number(args.rate) };
/** A client may have two exports in progress; further ones are rejected, which costs little. */
const greedyPace = (kind: Kind) => ({ inProgress: kind === 'export' ? 2 : 100 });

type Kind = 'page' | 'search' | 'summary' | 'export' | 'token';

/** Quiet and greedy kind of request, compared in turn. */
const scenarios: readonly (readonly [Kind, Kind])[] = [
  ['page', 'page'],
  ['page', 'search'],
  ['page', 'summary'],
  ['page', 'export'],
  ['search', 'search'],
  ['token', 'token'],
];

const base = '/connect-api/v1/subscription';
const day = 86_400_000;
const date = (days: number): string => new Date(until * 1000 - days * day).toISOString();

type RequestsOf = Readonly<Record<Kind, readonly string[]>>;

async function requestsOf({ store }: BenchStore, service: OurService, tenant: TenantId): Promise<RequestsOf> {
  const authorization = `Bearer ${service.tokens.get(tenant)}`;
  const get = (path: string, more = {}): string => getRequest(path, { authorization, ...more }).toString('latin1');
  const each = (path: (n: number) => string, more = {}): readonly string[] =>
    Array.from({ length: 500 }, (_, n) => get(path(n), more));
  const credentials = await createClient(store, until, { tenant });
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...credentials }).toString();
  const token = `POST /oauth2/token HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  return {
    page: randomPages([tenant], 2_000).map(({ path }) => get(path)),
    // read by threads on SQLite: the counts do not know these filters
    search: each((n) => `${base}?size=50&auto-renew=true&after=${date(900 - n / 2)}`),
    summary: each((n) => `${base}/summary?by=month&auto-renew=true&created-from=${date(900 - n / 2)}`),
    export: each((n) => `${base}?all=true&format=ndjson&after=${date(900 - n / 2)}`, { connection: 'close' }),
    token: [token],
  };
}

async function measure(engine: string, opened: BenchStore): Promise<void> {
  const tenants = await loadDataSet(opened.store, Number(args.records), tenantCount);
  if (engine === 'postgres') await opened.administer('vacuum analyze');
  const service = await startOurs(opened, tenants, { PAGE_CACHE_MIB: '0', RATE_LIMIT_PER_MINUTE: '0' });
  try {
    const [greedyTenant, quietTenant] = tenants;
    if (greedyTenant === undefined || quietTenant === undefined) throw new RangeError('Cannot measure: two tenants');
    const quiet = await requestsOf(opened, service, quietTenant);
    const greedy = await requestsOf(opened, service, greedyTenant);
    for (const [quietKind, greedyKind] of scenarios) {
      const name = `${quietKind}/${greedyKind}`;
      if (args.scenario !== undefined && !args.scenario.includes(name)) continue;
      const { port } = service;
      const own = { port, requests: quiet[quietKind], pace, seconds };
      const other = { port, requests: greedy[greedyKind], pace: greedyPace(greedyKind), seconds };
      const rounds: (readonly [Experience, Experience])[] = [];
      while (rounds.length < Number(args.rounds)) {
        // the order varies, so that other load on the machine affects both
        const first = rounds.length % 2 === 0;
        const [a, b] = [await runPair(own, first ? undefined : other), await runPair(own, first ? other : undefined)];
        rounds.push(first ? [a, b] : [b, a]);
      }
      print(engine, name, rounds);
    }
  } finally {
    await service.stop();
    await opened.close();
  }
}

function print(engine: string, name: string, rounds: readonly (readonly [Experience, Experience])[]): void {
  const of = (side: 0 | 1, figure: keyof Experience): number => median(rounds.map((pair) => pair[side][figure]));
  const ratio = (figure: 'p50Ms' | 'p99Ms'): string => {
    const ratios = rounds.map(([alone, beside]) => beside[figure] / alone[figure]);
    return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
  };
  const cells = [
    engine,
    name,
    `${of(0, 'p50Ms').toFixed(2)} → ${of(1, 'p50Ms').toFixed(2)}`,
    ratio('p50Ms'),
    `${of(0, 'p99Ms').toFixed(2)} → ${of(1, 'p99Ms').toFixed(2)}`,
    ratio('p99Ms'),
    `${of(1, 'overtaken50')} / ${of(1, 'overtaken99')}`,
    `${(of(1, 'accepted') * 100).toFixed(1)} %`,
    `${(of(1, 'othersAccepted') * 100).toFixed(0)} %`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

console.log(
  '| engine | quiet/greedy | p50 ms | ratio | p99 ms | ratio | overtaken p50 / p99 | quiet 200 | greedy 200 |',
);
console.log('|---|---|---|---|---|---|---|---|---|');
if (args.engine.includes('sqlite')) await measure('sqlite', await openBenchSqlite());
if (args.engine.includes('postgres')) await measure('postgres', await openBenchPostgres());
console.log(`\n${machineFacts()}.`);
