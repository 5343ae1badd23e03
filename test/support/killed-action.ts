import { createAuditLog } from '../../packages/service/audit/audit-log.ts';
import { createTenant } from '../../packages/service/operator/tenants.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';

// Creates a tenant, and is killed when its entry is about to be added.
const store = openStore({
  databaseUrl: process.env.DATABASE_URL,
  dataDir: process.env.DATA_DIR ?? '',
  poolSize: 2,
  onConnectionError: () => undefined,
});
const now = () => 1_780_000_000;
const audit = createAuditLog({ store, now, write: () => undefined });
const kill = async (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};
const actor = { kind: 'command', user: 'tester' } as const;
await createTenant(
  { store, now, actor, audit: { ...audit, add: kill }, onUnrecorded: () => undefined },
  process.argv[2],
);
