import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { pino } from 'pino';
import { createClient } from '../../src/auth/manage-clients.ts';
import { readConfig } from '../../src/cli/config.ts';
import { serve } from '../../src/cli/serve.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import { freePort } from '../../tools/free-port.ts';

/** Sends requests to a service in this process over a keep-alive connection, with a valid token. */
export interface HttpReader {
  /** Reads the report for a query string to the last byte. */
  read(queryString: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a service on a store, for a client of one tenant, without a response cache. */
export async function startHttpReader(store: Store, tenant: TenantId): Promise<HttpReader> {
  const port = await freePort();
  const config = readConfig({
    PORT: String(port),
    ACCESS_TOKEN_SECONDS: '86400',
    MANAGEMENT_PORT: '0',
    PAGE_CACHE_MIB: '0',
  });
  const { app } = await serve(config, store, pino({ level: 'silent' }));
  const client = await createClient(store, Math.floor(Date.now() / 1000), { tenant });
  const token = await requestToken(`http://127.0.0.1:${port}/oauth2/token`, client);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async read(queryString) {
      const path = `/connect-api/v1/subscription?${queryString}`;
      const request = get({ host: '127.0.0.1', port, path, agent, headers: { authorization: `Bearer ${token}` } });
      const [response] = await once(request, 'response');
      response.resume();
      await once(response, 'end');
      if (response.statusCode !== 200) throw new Error(`the service answered ${response.statusCode}`);
    },
    async close() {
      agent.destroy();
      await app.close();
    },
  };
}

async function requestToken(url: string, client: { client_id: string; client_secret: string }): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...client });
  const answer = (await (await fetch(url, { method: 'POST', body })).json()) as { access_token: string };
  return answer.access_token;
}
