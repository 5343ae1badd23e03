import { readFileSync } from 'node:fs';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { TenantId } from '../../packages/service/storage/store.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';

/** A peer and one token per tenant. */
interface Peer extends ServerProcess {
  readonly tokens: ReadonlyMap<TenantId, string>;
}

/**
 * Fills the tables of the peers from ours and starts programs on them, by default the hand-written
 * one. Their tokens name the tenant and are signed with RS256, which is the fastest to verify.
 */
export async function startPeers(
  { administer, environment }: BenchStore,
  tenants: readonly TenantId[],
  programs: readonly string[] = ['fastify-pg.ts'],
): Promise<readonly Peer[]> {
  await administer(readFileSync(new URL('peer-schema.sql', import.meta.url), 'utf8'));
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const tokens = new Map<TenantId, string>();
  for (const tenant of tenants) {
    const token = new SignJWT({ tenant, client_id: `client-${tenant}`, scope: 'subscription:read' });
    token.setProtectedHeader({ alg: 'RS256' }).setIssuer('https://issuer.example').setAudience('reports');
    tokens.set(tenant, await token.setIssuedAt().setExpirationTime('1d').sign(privateKey));
  }
  const environmentOfPeer = {
    DATABASE_URL: environment.DATABASE_URL ?? '',
    PUBLIC_KEY: await exportSPKI(publicKey),
  };
  const servers: Peer[] = [];
  for (const program of programs)
    servers.push({ ...(await startServer(`bench/peers/${program}`, [], environmentOfPeer)), tokens });
  return servers;
}
