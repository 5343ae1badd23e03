import { createReadStream } from 'node:fs';
import { importRecords } from '../../packages/service/import/import-records.ts';
import { noRowsYet, readValidRows } from '../../packages/service/import/read-valid-rows.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store } from '../../packages/service/storage/store.ts';
import { findTenant } from '../../packages/service/storage/tables/tenant.ts';

// One import in a separate process: `node run-import.ts FILE import|check`; `check` only
// reads and checks the rows. Prints its seconds, its CPU seconds and the growth of the process in
// MB.
const [, , file = '', how] = process.argv;
const options = {
  format: 'ndjson',
  dryRun: false,
  onRejected: ({ line }: { line: number }): never => {
    throw new Error(`Cannot import: line ${line} must be right`);
  },
} as const;
const before = process.memoryUsage.rss();
const started = performance.now();
if (how === 'check') await checkRows();
else await importRows();
const seconds = (performance.now() - started) / 1000;
const grownMb = process.resourceUsage().maxRSS / 1024 - before / 2 ** 20;
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, grownMb }));

async function checkRows(): Promise<void> {
  const tally = noRowsYet();
  for await (const _ of readValidRows(createReadStream(file), { ...options, tally }));
}

async function importRows(): Promise<void> {
  const store = openStore({
    databaseUrl: process.env.DATABASE_URL,
    dataDir: process.env.DATA_DIR ?? '',
    poolSize: 4,
    keepsHistory: process.env.HISTORY_DAYS !== '0',
    onConnectionError: (error) => {
      throw error;
    },
  });
  await importInto(store);
  await store.close();
}

async function importInto(store: Store): Promise<void> {
  const found = await findTenant(store, 'bench');
  if (found === undefined) throw new Error('Cannot import: the tenant must exist');
  await importRecords(store, found.tenant, createReadStream(file), options);
}
