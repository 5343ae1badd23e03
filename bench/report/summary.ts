import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { defaultPageLimits } from '../../src/contract/report.ts';
import { getSubscriptionSummary, planSummary } from '../../src/report/get-subscription-summary.ts';
import { parseSummary } from '../../src/report/parse-summary.ts';
import type { SummaryPlan } from '../../src/storage/read/summary.ts';
import type { Row, SqlValue, Store, TenantId } from '../../src/storage/store.ts';
import { and, binder, filterConditions } from '../../src/storage/subscription-filter.ts';
import { median } from '../support/median.ts';
import { machineFacts } from '../support/results.ts';
import { type FilledStore, measureFilledStores } from './data-set.ts';

// What a summary of the largest tenant costs; beside it the same counts by count(*) and GROUP BY, a
// statement for each group. One run, rounds alternating over all cases, medians; ratios are what
// travels to other machines.
//   npm run bench -- summary       1 million records, 200,000 of one tenant
//   npm run bench -- summary --records 10000 --records 1000000 --save

const { values: args } = parseArgs({
  options: {
    records: { type: 'string', multiple: true, default: ['1000000'] },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    rounds: { type: 'string', default: '15' },
    save: { type: 'boolean', default: false },
  },
});
const rounds = Number(args.rounds);
const context = { limits: defaultPageLimits, now: () => Date.parse('2025-12-01T00:00:00Z') / 1000 };
const year = 'created-from=2024-01-01T00:00:00Z&created-to=2025-01-01T00:00:00Z';

const queries: readonly string[] = [
  'by=status',
  'by=product-id',
  'by=month',
  'by=status,product-id,month',
  `by=status,product-id&${year}`,
  `by=day&${year}`,
  'by=status,month&product-id=P5',
  'by=product-id&status=EXPIRED,DEPLETED',
  'by=plan-id',
  'by=auto-renew',
  '',
  `${year}`,
  'created-from=2025-10-01T00:00:00Z&created-to=2025-10-08T00:00:00Z',
  'auto-renew=false',
  'by=month&date-field=expiration',
  'by=day&date-field=expiration&expires-within=30d&auto-renew=false',
  'email=user77@example.com',
];

interface Measured {
  readonly engine: string;
  readonly records: number;
  readonly query: string;
  readonly total: number;
  /** Median milliseconds from parsing to the complete response, and of the plain statements. */
  readonly ours: number;
  readonly plain: number;
}

const report = toMarkdown(await measureFilledStores(args, measureStore));
console.log(report);
if (args.save) writeFileSync(new URL('../results/summary.md', import.meta.url), `${report}\n`);

async function measureStore({ store, tenant, records }: FilledStore): Promise<Measured[]> {
  const times = new Map<string, number[]>();
  const totals = new Map<string, number>();
  const run = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work();
    times.set(key, [...(times.get(key) ?? []), performance.now() - started]);
    return result;
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const query of queries) {
      const { headers } = await run(`ours ${query}`, () =>
        getSubscriptionSummary(store, tenant, parseSummary(query, context)),
      );
      const total = await run(`plain ${query}`, () =>
        countPlainly(store, tenant, planSummary(parseSummary(query, context))),
      );
      if (Number(headers['x-total-count']) !== total) throw new Error(`two totals of ${query}: ${total}`);
      totals.set(query, total);
    }
  }
  return queries.map((query) => ({
    engine: store.engine,
    records,
    query,
    total: totals.get(query) ?? 0,
    ours: median(times.get(`ours ${query}`) ?? []),
    plain: median(times.get(`plain ${query}`) ?? []),
  }));
}

/** The same counts without maintained ones; days represent months. */
function countPlainly(store: Store, tenant: TenantId, { filter, columns, bucket }: SummaryPlan): Promise<number> {
  return store.readTenant(tenant, async (reader) => {
    const values: SqlValue[] = [];
    const rows = `from subscription where tenant_id = $1${and(filterConditions(filter, binder(values)))}` as const;
    const groups = [...columns, ...(bucket === undefined ? [] : [`${bucket.dateColumn} / 86400`])];
    const [total] = await Promise.all([
      reader.all(`select count(*) as n ${rows}`, values),
      ...groups.map(
        (group): Promise<readonly Row[]> =>
          reader.all(`select ${group} as value, count(*) as n ${rows} group by ${group}`, values),
      ),
    ]);
    return Number(total[0]?.n ?? 0);
  });
}

function toMarkdown(measured: readonly Measured[]): string {
  const rows = measured.map(({ engine, records, query, total, ours, plain }) => {
    const ratio = plain / ours;
    const cells = [
      engine,
      records.toLocaleString('en'),
      query === '' ? '(all that is default)' : `\`${query}\``,
      total.toLocaleString('en'),
      ours.toFixed(2),
      ratio.toFixed(ratio < 10 ? 2 : 0),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `# A summary

\`npm run bench -- summary\`, for the tenant with a fifth of all records, from parsing to the complete response, without HTTP and caches, compared with \`count(*)\` and one
\`count(*) … group by\` per dimension in one snapshot of the same database. Medians of ${rounds} rounds, with all cases alternating. Without \`by\`, the dimensions are status, product-id,
plan-id and auto-renew. Measured after vacuum and analyze.

${machineFacts('PostgreSQL 18 over loopback with 2 GB of shared buffers, fsync off')}. The machine was shared: only the ratios are reliable.

| engine | records | query | total | ours, ms | plain ÷ ours |
|---|---|---|---|---|---|
${rows.join('\n')}`;
}
