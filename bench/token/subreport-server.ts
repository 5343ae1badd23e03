import { createClient } from '../../src/auth/manage-clients.ts';
import { readConfig } from '../../src/cli/config.ts';
import { createLogger } from '../../src/cli/logger.ts';
import { serve } from '../../src/cli/serve.ts';
import { nowSeconds, openReadyStore, requireTenant } from '../../src/cli/store-session.ts';
import { operations } from '../../src/contract/operations.ts';
import { insertTenant } from '../../src/storage/tables/tenant.ts';
import { subscriptionRow } from '../../test/support/rows.ts';
import { freePort } from '../../tools/free-port.ts';
import { addMeasuredRoutes } from './add-measured-routes.ts';
import { announceServer } from './announce-server.ts';
import { benchRecord, clientCount, recordCount } from './plan.ts';

// The service as `subreport serve` runs it, access log included, with routes more to measure its
// check of access tokens.

const port = await freePort();
const config = readConfig({ DATABASE_URL: process.env.DATABASE_URL, PORT: String(port), MANAGEMENT_PORT: '0' });
const store = await openReadyStore(config, (error) => console.error(error.message));
await insertTenant(store, 'bench', nowSeconds());
const tenant = await requireTenant(store, 'bench');
const rows = Array.from({ length: recordCount }, (_, n) =>
  subscriptionRow({ id: `subscription-${n}`, createdDate: 1_700_000_000 + n, record: benchRecord(n) }),
);
await store.loadSubscriptions(tenant, rows);
const clients = await Promise.all(
  Array.from({ length: clientCount }, () => createClient(store, nowSeconds(), { tenant })),
);
addMeasuredRoutes({ clientId: 'bench', tenant, expiresAt: Number.MAX_SAFE_INTEGER });
await serve(config, store, createLogger(config.LOG_LEVEL));
announceServer({ port, tokenPath: operations.issueToken.path, clients });
