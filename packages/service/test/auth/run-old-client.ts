import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { OldClient, type OldClientOptions } from '../../../../test/support/old-client.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { refreshTokenUses } from '../../../contract/oauth/grant.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { openStore } from '../../storage/open-store.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

/**
 * Runs a client of the published v1 against a real service, with tokens that live seconds instead
 * of minutes: for both settings of REFRESH_TOKEN_USE, one client that keeps its first refresh token
 * and one that keeps the newest. Exits with 1 if a report request failed, or if a refresh that the
 * setting allows was rejected.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    /**
     * Lifetime of an access token; a refresh token lives six times as long, as in the
     * specification.
     */
    seconds: { type: 'string', default: '10' },
  },
});
const accessSeconds = Number(values.seconds);
const endMs = performance.now() + Number(values.minutes) * 60_000;
const pauseMs = 250;

interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  readonly environment: Readonly<Record<string, string>>;
}

async function startService(use: string): Promise<Running> {
  const port = await freePort();
  const environment = {
    PATH: process.env.PATH ?? '',
    DATA_DIR: mkdtempSync(join(tmpdir(), 'subreport-old-client-')),
    PORT: String(port),
    MANAGEMENT_PORT: '0',
    LOG_LEVEL: 'warn',
    ACCESS_TOKEN_SECONDS: String(accessSeconds),
    REFRESH_TOKEN_SECONDS: String(accessSeconds * 6),
    REFRESH_GRACE_SECONDS: '1',
    REFRESH_TOKEN_USE: use,
  };
  const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, 'serve'], { env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  while (child.exitCode === null) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined);
    if (ready?.status === 200) return { url, child, environment };
    await sleep(100);
  }
  throw new Error(`Cannot run the old client: the service must start: it ended with ${child.exitCode}`);
}

async function makeClient(dataDir: string) {
  const store = openStore({ databaseUrl: undefined, dataDir, poolSize: 1, onConnectionError: () => undefined });
  const nowSeconds = Math.floor(Date.now() / 1000);
  await insertTenant(store, 'acme', nowSeconds);
  const tenant = (await findTenant(store, 'acme'))?.tenant;
  if (tenant === undefined) throw new TypeError('Cannot run the old client: its tenant must exist');
  const made = await createClient(store, nowSeconds, { tenant });
  await store.close();
  return { clientId: made.client_id, clientSecret: made.client_secret };
}

async function walk({ url, environment }: Running, keeps: OldClientOptions['keeps']) {
  const client = new OldClient({
    ...(await makeClient(environment.DATA_DIR ?? '')),
    tokenUrl: `${url}/oauth2/token`,
    reportUrl: `${url}/connect-api/v1/subscription`,
    keeps,
    accessMs: accessSeconds * 1000,
    refreshMs: accessSeconds * 6_000,
    nowMs: () => performance.now(),
  });
  while (performance.now() < endMs) {
    await client.call();
    await sleep(pauseMs);
  }
  return client.counts;
}

const rows = await Promise.all(
  refreshTokenUses.map(async (use) => {
    const running = await startService(use);
    const walks = (['first', 'newest'] as const).map(async (keeps) => ({
      use,
      keeps,
      ...(await walk(running, keeps)),
    }));
    const counts = await Promise.all(walks);
    running.child.kill('SIGTERM');
    await once(running.child, 'exit');
    rmSync(running.environment.DATA_DIR ?? '', { recursive: true });
    return counts;
  }),
);
console.table(rows.flat());
const isWrong = rows
  .flat()
  .some(
    ({ use, keeps, failedCalls, refusedRefreshes }) =>
      failedCalls > 0 || (refusedRefreshes > 0 && (use === 'reuse' || keeps === 'newest')),
  );
process.exitCode = isWrong ? 1 : 0;
