import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { exportSubscriptions } from '../../packages/service/report/export-subscriptions.ts';
import { listSubscriptions } from '../../packages/service/report/list-subscriptions.ts';
import { parseReport } from '../../packages/service/report/parse.ts';
import { readChanges } from '../../packages/service/storage/read/changes.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { findTenant } from '../../packages/service/storage/tables/tenant.ts';
import { until } from '../support/data-set.ts';
import { cpuSeconds, openAny } from './stores.ts';

// Pages by number of each order at any depth, changes, and the first records of exports with
// filters, in CPU milliseconds of the process and of PostgreSQL, without HTTP and caches; the
// median of seven. On Linux only; the folder is one that `npm run bench -- any` has filled.
//   node bench/any/deep.ts --engine sqlite --records 5000000 --data FOLDER

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    records: { type: 'string', default: '1000000' },
    data: { type: 'string' },
  },
});
const opened = await openAny(values.engine, Number(values.records), values.data);
const { store } = opened;
const tenant = (await findTenant(store, 'tenant-001'))?.tenant as TenantId;
const context = { limits: defaultPageLimits, now: () => until, reportUrl: 'http://localhost/r' };

/** `end` closes what the work has opened; a server process that has exited is not measured. */
async function medianMs<T>(work: () => Promise<T>, end?: (opened: T) => Promise<void>): Promise<number> {
  const times: number[] = [];
  await end?.(await work());
  await sleep(100);
  for (let n = 0; n < 7; n += 1) {
    const before = cpuSeconds(opened.serverPid);
    const result = await work();
    times.push((cpuSeconds(opened.serverPid) - before) * 1000);
    await end?.(result);
    if (end !== undefined) await sleep(100); // until the server process has exited
  }
  return times.sort((a, b) => a - b)[3] ?? Number.NaN;
}

const shown = (ms: number): string => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0));

const encoded = (text: string): string => Buffer.from(text).toString('base64url');
const plan = `plan-id=${encoded('plan-0')}`;
const product = `product-id=${encoded('product-0-0')}`;
const year = 'after=2025-07-01T00:00:00Z&before=2026-07-01T00:00:00Z';

console.log(`${values.engine}, ${values.records} records\n`);
console.log('| filter and order | pages of 20 | page 1 | 10 % | 50 % | 90 % | last | worst / page 1 |');
console.log('|---|---|---|---|---|---|---|---|');
const dates = ['createdDate', 'activationDate', 'expirationDate'];
const pages = [
  ...dates.flatMap((date) => [`sort=${date}`, `sort=-${date}`]),
  ...dates.map((date) => `status=ACTIVE&sort=${date}`),
  `date-field=expiration&${year}&sort=expirationDate`,
  `${product}&sort=createdDate`,
  `${plan}&sort=createdDate`,
  `${plan}&sort=expirationDate`,
  `${product}&sort=expirationDate`,
  `date-field=expiration&${year}&sort=createdDate`,
  `status=ACTIVE&date-field=expiration&${year}&sort=createdDate`,
];
for (const text of pages) {
  const read = (page: number) =>
    listSubscriptions({ ...context, store }, tenant, parseReport(`${text}&page=${page}`, context, 'json'));
  const last = Number((await read(1)).headers['x-total-pages']);
  const costs: number[] = [];
  for (const page of [1, ...[0.1, 0.5, 0.9, 1].map((share) => Math.max(1, Math.ceil(last * share)))])
    costs.push(await medianMs(() => read(page)));
  const ratio = Math.max(...costs) / (costs[0] ?? Number.NaN);
  console.log(`| \`${text}\` | ${last} | ${costs.map(shown).join(' | ')} | ${ratio.toFixed(1)} |`);
}

console.log('\n| changes, 1,000 | ms |\n|---|---|');
const ids = await store.readTenant(tenant, (reader) =>
  reader.all('select min(id) as first, max(id) as last from subscription where tenant_id = $1'),
);
for (const [name, id] of [
  ['first', ''],
  ['in the middle', 'czEtMzAwMDAwMA'],
  ['last', String(ids[0]?.last).slice(0, -2)],
] as const) {
  const read = () =>
    store.readTenant(
      tenant,
      (reader) => readChanges(reader, { after: { revision: 1, id }, newestFirst: false, limit: 1_000 }),
      { isBounded: true },
    );
  console.log(`| ${name}: ${(await read()).length} | ${shown(await medianMs(read))} |`);
}

console.log('\n| export, until its first 500 records | records | ms |\n|---|---|---|');
for (const text of [
  '',
  'status=ACTIVE',
  'auto-renew=true&sort=expirationDate',
  product,
  `${product}&sort=expirationDate`,
  plan,
  `${plan}&sort=-expirationDate`,
  `date-field=expiration&${year}`,
  `status=PENDING&date-field=expiration&${year}`,
  `${product}&date-field=expiration&${year}&sort=activationDate`,
  'expires-within=7d&sort=expirationDate',
  'expires-within=7d&sort=createdDate',
  'device-id=device-000417',
]) {
  const query = parseReport(text, context, 'ndjson');
  const start = async () => {
    const whole = await exportSubscriptions({ ...context, store }, tenant, query, 10_000);
    await whole.pieces[Symbol.asyncIterator]().next();
    return whole;
  };
  const first = await start();
  await first.close();
  const ms = await medianMs(start, ({ close }) => close());
  console.log(`| \`${text}\` | ${first.headers['x-total-count']} | ${shown(ms)} |`);
}
await opened.close();
