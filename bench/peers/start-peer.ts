import { readFileSync } from 'node:fs';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';

/** The hand-written peer and one token per tenant. */
export interface Peer extends ServerProcess {
  readonly tokens: ReadonlyMap<TenantId, string>;
}

/**
 * Fills the tables of the peer from ours and starts it (`fastify-pg.ts`). Its tokens name the
 * tenant and are signed with RS256, which is the fastest to verify. `settings` are its environment.
 */
export async function startPeer(
  { administer, environment }: BenchStore,
  tenants: readonly TenantId[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Peer> {
  await administer(readFileSync(new URL('peer-schema.sql', import.meta.url), 'utf8'));
  await administer('grant usage on schema peer to subreport_bench');
  await administer('grant select on all tables in schema peer to subreport_bench');
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const tokens = new Map<TenantId, string>();
  for (const tenant of tenants) {
    const token = new SignJWT({ tenant, client_id: `client-${tenant}`, scope: 'subscription:read' });
    token.setProtectedHeader({ alg: 'RS256' }).setIssuer('https://issuer.example').setAudience('reports');
    tokens.set(tenant, await token.setIssuedAt().setExpirationTime('1d').sign(privateKey));
  }
  const server = await startServer('bench/peers/fastify-pg.ts', [], {
    DATABASE_URL: environment.DATABASE_URL ?? '',
    PUBLIC_KEY: await exportSPKI(publicKey),
    ...settings,
  });
  return { ...server, tokens };
}
