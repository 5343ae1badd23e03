import { parseArgs } from 'node:util';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { ReportError } from '../../packages/service/report/error.ts';
import { planFilter } from '../../packages/service/report/filters.ts';
import { getSubscriptionSummary } from '../../packages/service/report/get-subscription-summary.ts';
import { listSubscriptions } from '../../packages/service/report/list-subscriptions.ts';
import { parseReport } from '../../packages/service/report/parse.ts';
import { parseSummary } from '../../packages/service/report/parse-summary.ts';
import { StorageError } from '../../packages/service/storage/error.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { boundsOf, type SubscriptionFilter } from '../../packages/service/storage/subscription-filter.ts';
import { findTenant } from '../../packages/service/storage/tables/tenant.ts';
import { until } from '../support/data-set.ts';
import { type DrawnQuery, drawQuery, seeded } from './draw.ts';
import { cpuSeconds, type Opened, openAny } from './stores.ts';

// What any question costs: random combinations of the contract's filters, orders and dimensions, as
// CPU time of the process and of PostgreSQL, without HTTP and caches. On Linux only.
//   npm run bench -- any --engine sqlite --records 1000000 --queries 500 --seed 23
// `--data FOLDER` keeps the store for the next run; `--check` compares totals with SQL; `--warm`
// runs all queries once before it measures them, so that the database has its pages in memory;
// `--deadline` is that of a query in milliseconds by the clock, as of a request.

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    records: { type: 'string', default: '1000000' },
    queries: { type: 'string', default: '500' },
    seed: { type: 'string', default: '23' },
    data: { type: 'string' },
    check: { type: 'boolean', default: false },
    warm: { type: 'boolean', default: false },
    slowest: { type: 'string', default: '10' },
    deadline: { type: 'string', default: '7000' },
  },
});
const records = Number(values.records);

interface Measured extends DrawnQuery {
  readonly ms: number;
  readonly total: number;
  /** Records that the narrowest of its filters alone selects. */
  readonly narrowest: number;
}

/** The filters of one parsed query, each alone: bounds of a date together. */
function filtersAlone(filter: SubscriptionFilter): readonly SubscriptionFilter[] {
  const { dateColumn, afterSeconds: _after, beforeSeconds: _before, furtherBounds: _further, ...valued } = filter;
  const bounds = boundsOf(filter);
  return [...bounds, ...Object.entries(valued).map(([name, value]) => ({ dateColumn, [name]: value }))];
}

async function narrowestOf(opened: Opened, tenant: TenantId, filter: SubscriptionFilter): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (const alone of filtersAlone(filter)) {
    const key = JSON.stringify(alone);
    const n = countedAlone.get(key) ?? (await opened.count(alone, tenant));
    countedAlone.set(key, n);
    least = Math.min(least, n);
  }
  return least;
}

const countedAlone = new Map<string, number>();

/** CPU milliseconds of one query, and its total; `undefined` if the service rejects it. */
async function measure(opened: Opened, tenant: TenantId, drawn: DrawnQuery): Promise<Measured | undefined> {
  const context = { limits: defaultPageLimits, now: () => until, reportUrl: 'http://localhost/r' };
  const store = opened.store.within(performance.now() + Number(values.deadline));
  const before = cpuSeconds(opened.serverPid);
  try {
    const { headers } =
      drawn.kind === 'summary'
        ? await getSubscriptionSummary(store, tenant, parseSummary(drawn.text, context))
        : await listSubscriptions({ ...context, store }, tenant, parseReport(drawn.text, context, 'json'));
    const ms = (cpuSeconds(opened.serverPid) - before) * 1000;
    const total = Number(headers['x-total-count']);
    const parsed =
      drawn.kind === 'summary' ? parseSummary(drawn.text, context) : parseReport(drawn.text, context, 'json');
    const filter = planFilter(parsed);
    const counted = values.check ? await opened.count(filter, tenant) : total;
    if (counted !== total) throw new Error(`${drawn.text}: the total is ${total}, SQL counts ${counted}`);
    return { ...drawn, ms, total, narrowest: await narrowestOf(opened, tenant, filter) };
  } catch (error) {
    if (error instanceof ReportError) return undefined;
    if (error instanceof StorageError)
      return { ...drawn, ms: Number.POSITIVE_INFINITY, total: 0, narrowest: Number.POSITIVE_INFINITY };
    throw error;
  }
}

function toRow(name: string, measured: readonly Measured[]): string {
  const sorted = measured.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string => {
    const ms = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
    return ms === Number.POSITIVE_INFINITY ? '503' : ms.toFixed(ms < 10 ? 1 : 0);
  };
  return `| ${[name, sorted.length, at(0.5), at(0.9), at(1)].join(' | ')} |`;
}

const opened = await openAny(values.engine, records, values.data);
const tenant = (await findTenant(opened.store, 'tenant-001'))?.tenant as TenantId;
let random = seeded(Number(values.seed));
const measured: Measured[] = [];
// the first queries open connections, start threads and compile
for (let n = 0; n < 20; n += 1) await measure(opened, tenant, drawQuery(random));
for (const isMeasured of values.warm ? [false, true] : [true]) {
  random = seeded(Number(values.seed));
  measured.length = 0;
  while (measured.length < Number(values.queries)) {
    const result = await measure(opened, tenant, drawQuery(random));
    if (result === undefined) continue;
    measured.push(result);
    if (isMeasured && measured.length % 100 === 0) console.error(`${measured.length} queries`);
  }
}
console.log(
  `${values.engine}, ${records} records, seed ${values.seed}, load ${opened.loadCpuSeconds.toFixed(1)} s of CPU\n`,
);
console.log('| question | queries | median, ms | 90 % | worst |\n|---|---|---|---|---|');
console.log(toRow('**all**', measured));
for (const [name, some] of [...Map.groupBy(measured, ({ kindOfQuestion }) => kindOfQuestion)].sort())
  console.log(toRow(name, some));
console.log(
  toRow(
    'a filter alone selects at most 10,000',
    measured.filter(({ narrowest }) => narrowest <= 10_000),
  ),
);
console.log(
  toRow(
    'at most 10,000 records',
    measured.filter(({ total }) => total <= 10_000),
  ),
);
console.log(`503: ${measured.filter(({ ms }) => ms === Number.POSITIVE_INFINITY).length}\n`);
for (const { ms, total, text, kind } of measured.toSorted((a, b) => b.ms - a.ms).slice(0, Number(values.slowest)))
  console.log(`${ms.toFixed(0)} ms, ${total} records: ${kind} ${decodeURIComponent(text)}`);
const bytes = await opened.bytes();
console.log(`\n| bytes per record | |\n|---|---|`);
for (const [name, each] of bytes) if (each >= records) console.log(`| ${name} | ${(each / records).toFixed(1)} |`);
console.log(`| sum | ${([...bytes.values()].reduce((sum, each) => sum + each, 0) / records).toFixed(1)} |`);
await opened.close();
