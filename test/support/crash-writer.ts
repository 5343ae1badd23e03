import { writeSync } from 'node:fs';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { subscriptionRow } from './rows.ts';

// Loads batch after batch into the tenant `crash` and prints the number of each acknowledged batch,
// until it is killed.
const store = openStore({
  databaseUrl: process.env.DATABASE_URL,
  dataDir: process.env.DATA_DIR ?? '',
  poolSize: 2,
  onConnectionError: () => undefined,
});
const start = Number(process.argv[2]);
for (let batch = start; ; batch += 1) {
  const rows = Array.from({ length: 10 }, (_, n) => subscriptionRow({ id: `b${batch}-${n}`, createdDate: batch }));
  await store.loadSubscriptions('crash' as TenantId, rows);
  writeSync(1, `${batch}\n`);
}
