import { readConfig } from '../../packages/service/cli/config.ts';
import { createLogger } from '../../packages/service/cli/log/logger.ts';
import { serve } from '../../packages/service/cli/serve.ts';
import { openReadyStore } from '../../packages/service/cli/store/store-session.ts';
import { requireTenant } from '../../packages/service/operator/require-tenant.ts';
import { addMeasuredRoutes } from './add-measured-routes.ts';

// The service as `subreport serve` runs it, access log included, with further routes that measure
// its check of access tokens. `BENCH_TENANT` names the tenant whose report they return.

const config = readConfig(process.env);
const store = await openReadyStore(config, { onConnectionError: (error) => console.error(error.message) });
const tenant = await requireTenant(store, process.env.BENCH_TENANT ?? '');
addMeasuredRoutes({ clientId: 'bench', tenant, rateLimit: null });
await serve(config, store, createLogger(config));
