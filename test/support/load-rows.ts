import { openStore } from '../../packages/service/storage/open-store.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';

// Loads rows into a tenant: its arguments are the tenant and the rows as JSON.
const store = openStore({
  databaseUrl: process.env.DATABASE_URL,
  dataDir: process.env.DATA_DIR ?? '',
  poolSize: 1,
  onConnectionError: () => undefined,
});
const [tenant, rows = '[]'] = process.argv.slice(2);
await store.loadSubscriptions(tenant as TenantId, JSON.parse(rows));
await store.close();
