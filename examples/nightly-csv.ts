// Writes all subscriptions to a CSV file. The file is replaced only when the export is
// complete, so a failed run leaves the previous file.
//
//   node nightly-csv.ts FILE
//
// Settings: SUBREPORT_URL, SUBREPORT_CLIENT_ID, SUBREPORT_CLIENT_SECRET
// Exit code: 0 written, 1 failed, 2 wrong usage
import { rename, rm, writeFile } from 'node:fs/promises';
import { createClient, SubreportError } from '@subreport/client';

const { SUBREPORT_URL: url, SUBREPORT_CLIENT_ID: clientId, SUBREPORT_CLIENT_SECRET: clientSecret } = process.env;
const [file] = process.argv.slice(2);
if (!url || !clientId || !clientSecret || !file) {
  console.error('Usage: node nightly-csv.ts FILE, with SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET');
  process.exit(2);
}

const client = createClient({
  baseUrl: `${url}/connect-api`,
  tokenUrl: `${url}/oauth2/token`,
  clientId,
  clientSecret,
});

const partial = `${file}.${process.pid}.part`;
try {
  // the stream fails with ExportError if the number of records or their SHA-256 differ from those
  // that the service sent
  const report = await client.export({ sort: 'createdDate' }, { format: 'csv', verify: true });
  await writeFile(partial, report, { mode: 0o600, flush: true });
  await rename(partial, file);
  console.log(`${file}: ${report.totalCount} subscriptions`);
} catch (error) {
  await rm(partial, { force: true });
  if (!(error instanceof SubreportError)) throw error;
  console.error(`nightly-csv: ${error.message} (${error.code}, correlation id ${error.correlationId})`);
  process.exitCode = 1;
}
