import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem, expectTokenError } from '../../../../test/support/expect-error.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { freezePostgres, type PostgresServer, startPostgres } from '../../../../tools/postgres-server.ts';
import { openStore } from '../../storage/open-store.ts';

describe('a service whose PostgreSQL hangs', () => {
  let server: PostgresServer;
  let service: TestService;
  let client: TestClient;
  let token: string;
  let thaw = (): void => undefined;

  beforeAll(async () => {
    server = await startPostgres();
    const open = () =>
      openStore({ databaseUrl: server.url, dataDir: '', poolSize: 3, onConnectionError: () => undefined });
    const store = open();
    await store.migrate();
    const environment = { DATABASE_URL: server.url, REQUEST_SECONDS_MAX: '1' };
    service = await startService({ store, environment, openAgain: open, close: () => store.close() });
    client = await service.createClient(await service.createTenant('acme'));
    token = await service.accessToken(client);
  });
  afterAll(async () => {
    thaw();
    await service.close();
    await server.stop();
  });

  test('while PostgreSQL hangs, every request gets 503 with Retry-After in time, and the service recovers automatically', async () => {
    const grant = { grant_type: 'client_credentials', ...client };
    const pages = ['/v1/subscription?size=1', '/v1/subscription/summary', '/v1/subscription/changes'];
    const reads = [...pages, '/v1/subscription?all=true&format=ndjson'];
    const begun = performance.now();
    // the first requests may take longer than their second on a slow machine
    for (const path of reads) await expect.poll(async () => (await service.get(path, token)).status).toBe(200);
    const usualMs = performance.now() - begun;
    thaw = await freezePostgres(server);
    // Longer than any request may take with a budget of one second, and more on a slow machine.
    const hang = AbortSignal.timeout(Math.round(8_000 + 100 * usualMs));
    const headers = { authorization: `Bearer ${token}` };
    const asked = [...reads, ...pages, ...pages].map((path) =>
      fetch(service.baseUrl + path, { headers, signal: hang }),
    );
    const tokens = [1, 2, 3].map(() =>
      fetch(`${service.url}/oauth2/token`, { method: 'POST', body: new URLSearchParams(grant), signal: hang }),
    );
    const ready = fetch(`${service.url}/readyz`, { signal: hang });
    for (const response of await Promise.all([...asked, ready])) {
      expect(response.headers.get('retry-after')).not.toBeNull();
      await expectProblem(response, 'UNAVAILABLE');
    }
    for (const response of await Promise.all(tokens)) {
      expect(response.headers.get('retry-after')).not.toBeNull();
      await expectTokenError(response, 'temporarily_unavailable');
    }
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    thaw();
    const status = async () => (await service.get('/v1/subscription', await service.accessToken(client))).status;
    await expect.poll(() => status().catch(() => 503)).toBe(200);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });
});
