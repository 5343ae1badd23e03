import { randomBytes } from 'node:crypto';
import { operations } from '../../packages/contract/operations.ts';
import { type ClientCredentialsOnce, createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { until } from '../support/data-set.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';

/** A server with a token endpoint, and clients with both grants. */
export interface TokenServer extends ServerProcess {
  readonly tokenPath: string;
  readonly clients: readonly ClientCredentialsOnce[];
}

/** Starts our service, access log included. */
export async function startService(
  { store, environment }: BenchStore,
  tenant: TenantId,
  clientCount: number,
): Promise<TokenServer> {
  const clients: ClientCredentialsOnce[] = [];
  while (clients.length < clientCount) clients.push(await createClient(store, until, { tenant }));
  const server = await startServer('packages/service/cli/main.ts', ['serve'], {
    RATE_LIMIT_PER_MINUTE: '0',
    ...environment,
    MANAGEMENT_PORT: '0',
  });
  return { ...server, tokenPath: operations.issueToken.path, clients };
}

/** Starts oidc-provider in a separate database on the same PostgreSQL. */
export async function startOidcProvider(
  { administer, environment }: BenchStore,
  clientCount: number,
): Promise<TokenServer> {
  await administer('create database oidc_provider owner subreport_bench');
  const url = new URL(environment.DATABASE_URL ?? '');
  url.pathname = '/oidc_provider';
  const clients = Array.from({ length: clientCount }, (_, n) => ({
    client_id: `bench-${n}`,
    client_secret: randomBytes(32).toString('base64url'),
  }));
  const server = await startServer('bench/token/oidc-provider-server.ts', [], {
    DATABASE_URL: url.href,
    CLIENTS: JSON.stringify(clients),
  });
  return { ...server, tokenPath: '/token', clients };
}
