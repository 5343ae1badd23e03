import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { BenchStore } from './bench-store.ts';
import { until } from './data-set.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** Our service in a separate process, with one token per tenant. */
export interface OurService extends ServerProcess {
  readonly tokens: ReadonlyMap<TenantId, string>;
}

/**
 * Starts `subreport serve` on a store. Its access log is off, because the others write none, unless
 * `LOG_LEVEL` is set.
 */
export async function startOurs(
  { store, environment }: Pick<BenchStore, 'store' | 'environment'>,
  tenants: readonly TenantId[],
  more: Readonly<Record<string, string>> = {},
  program = 'packages/service/cli/main.ts',
): Promise<OurService> {
  const settings = {
    LOG_LEVEL: 'warn',
    ACCESS_TOKEN_SECONDS: '86400',
    MANAGEMENT_PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    ...environment,
    ...more,
  };
  const server = await startServer(program, ['serve', '--workers=1'], settings);
  const tokens = new Map<TenantId, string>();
  for (const tenant of tenants) {
    const credentials = await createClient(store, until, { tenant });
    const response = await fetch(`http://127.0.0.1:${server.port}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', ...credentials }),
    });
    const { access_token: token } = (await response.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`Cannot get a token: the endpoint answered ${response.status}`);
    tokens.set(tenant, token);
  }
  return { ...server, tokens };
}

/** A raw GET request. */
export function getRequest(path: string, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries({ host: '127.0.0.1', accept: 'application/json', ...headers });
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    'latin1',
  );
}
