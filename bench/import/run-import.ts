import { createReadStream } from 'node:fs';
import { importRecords } from '../../src/import/import-records.ts';
import { replaceRecords } from '../../src/import/replace-records.ts';
import { openStore } from '../../src/storage/open-store.ts';
import { findTenant } from '../../src/storage/tables/tenant.ts';

// One import in a separate process: `node run-import.ts FILE import|replace`. Prints its duration
// in seconds and the growth of the process in MB.
const [, , file = '', how] = process.argv;
const store = openStore({
  databaseUrl: process.env.DATABASE_URL,
  dataDir: process.env.DATA_DIR ?? '',
  poolSize: 4,
  onConnectionError: (error) => {
    throw error;
  },
});
const found = await findTenant(store, 'bench');
if (found === undefined) throw new Error('Cannot import: the tenant must exist');
const before = process.memoryUsage.rss();
const started = performance.now();
const options = {
  format: 'ndjson',
  dryRun: false,
  onRejected: ({ line }: { line: number }): never => {
    throw new Error(`Cannot import: line ${line} must be right`);
  },
} as const;
const source = createReadStream(file);
const summary =
  how === 'replace'
    ? await replaceRecords(store, found.tenant, source, { ...options, allowEmpty: false })
    : await importRecords(store, found.tenant, source, options);
const seconds = (performance.now() - started) / 1000;
const grownMb = process.resourceUsage().maxRSS / 1024 - before / 2 ** 20;
const { user, system } = process.cpuUsage();
await store.close();
console.log(JSON.stringify({ inserted: summary.inserted, seconds, cpuSeconds: (user + system) / 1e6, grownMb }));
