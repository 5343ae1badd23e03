// Prints as CSV how many subscriptions of each plan and product were created in a month, for an
// invoice. The service counts; no record is transferred.
//
//   node monthly-counts.ts 2026-10 > 2026-10.csv
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET
// Exit code: 0 printed, 1 failed, 2 wrong usage
import { createClient, SubreportError } from '@subreport/client';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(process.argv[2] ?? '') ?? [];
if (!url || !clientId || !clientSecret || !year || !month) {
  console.error(
    'Usage: node monthly-counts.ts YYYY-MM, with SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET',
  );
  process.exit(2);
}

const client = createClient({
  baseUrl: `${url}/connect-api`,
  tokenUrl: `${url}/oauth2/token`,
  clientId,
  clientSecret,
});

const cell = (value: string): string => `"${value.replaceAll('"', '""')}"`;

try {
  const created = {
    'created-from': new Date(Date.UTC(Number(year), Number(month) - 1)),
    'created-to': new Date(Date.UTC(Number(year), Number(month))),
  };
  const all = await client.summary({ ...created, by: ['plan-id', 'product-id'] });
  const counts = await Promise.all(
    (all.by['plan-id'] ?? []).map(async ({ value: plan }) => {
      if (plan === null) return [];
      const { by } = await client.summary({ ...created, 'plan-id': plan, by: 'product-id' });
      return (by['product-id'] ?? []).map(({ value: product, count }) => ({ plan, product, count }));
    }),
  );
  // the rest of a product has no plan, which no filter selects
  const rows = counts.flat();
  for (const { value: product, count } of all.by['product-id'] ?? []) {
    const planned = rows.filter((row) => row.product === product).reduce((sum, row) => sum + row.count, 0);
    if (count > planned) rows.push({ plan: '', product, count: count - planned });
  }
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  // each summary has a snapshot of its own
  if (total !== all.total) throw new Error('Cannot count: records changed in the meantime: repeat the command');
  console.log('month,plan_id,product_id,count');
  for (const { plan, product, count } of rows) console.log(`${year}-${month},${cell(plan)},${cell(product)},${count}`);
} catch (error) {
  if (!(error instanceof SubreportError)) throw error;
  console.error(`monthly-counts: ${error.message} (${error.code}, correlation id ${error.correlationId})`);
  process.exitCode = 1;
}
