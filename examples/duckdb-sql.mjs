// Exports the report as Parquet and queries it with DuckDB.
//
//   node duckdb-sql.mjs [SQL]
//
// The table is `subscription`. Without SQL, it prints the plans with most active subscriptions.
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET
// Exit code: 0 printed, 1 failed, 2 wrong usage
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { createClient, SubreportError } from '@subreport/client';

const largestPlans = `select product_plan_id, count(*) as active from subscription
  where status = 'ACTIVE' group by all order by active desc, product_plan_id limit 3`;
const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
const [sql = largestPlans] = process.argv.slice(2);
if (!url || !clientId || !clientSecret) {
  console.error(
    'Usage: node duckdb-sql.mjs [SQL], with SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET',
  );
  process.exit(2);
}

const client = createClient({
  baseUrl: `${url}/connect-api`,
  tokenUrl: `${url}/oauth2/token`,
  clientId,
  clientSecret,
});

const folder = await mkdtemp(join(tmpdir(), 'duckdb-sql-'));
try {
  const file = join(folder, 'subscriptions.parquet');
  // the stream fails with ExportError if the number of records or their SHA-256 differ from those
  // that the service sent
  await writeFile(file, await client.export({}, { format: 'parquet', verify: true }));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`create view subscription as from read_parquet('${file.replaceAll("'", "''")}')`);
  const reader = await connection.runAndReadUntil(sql, 1_000);
  console.table(reader.getRowObjectsJson().slice(0, 1_000));
  connection.closeSync();
  instance.closeSync();
} catch (error) {
  const isReported = error instanceof SubreportError;
  console.error(
    'duckdb-sql:',
    isReported ? `${error.message} (${error.code}, correlation id ${error.correlationId})` : error.message,
  );
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
