import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSnapshot } from 'node:v8';
import type { AuthContext } from '../../packages/service/auth/auth-context.ts';
import { createResourceServer } from '../../packages/service/auth/verify/resource-server.ts';

// Accepts a token, and prints whether the token and what is known of it are in this process's
// memory: while the token is valid, and after it has expired.

const issuer = 'https://issuer.example';

/** A string that exists in memory only while it is referenced. */
const tokenOf = (name: string): string =>
  [{ alg: 'none' }, { iss: issuer, name }, {}]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
const tenantOf = (name: string): string => createHash('sha256').update(name).digest('hex');

let now = 0;
let accepted = { name: 'first', validUntil: 1 };
const row = { client_id: 'acme', grants: '', scopes: 'subscription:read', created_at: 0, disabled_at: null };
const store = {
  changeMark: () => 1,
  readDirectory: async () => [{ ...row, tenant_id: tenantOf(accepted.name), tokens_revoked_at: null }],
};
const verify = async () => ({
  clientId: 'acme',
  scopes: ['subscription:read' as const],
  issuedAt: 0,
  validUntil: accepted.validUntil,
  isOwn: false,
});
const { authorize } = createResourceServer({ store, settings: {}, now: () => now } as unknown as AuthContext, {
  issuer,
  verify,
  keyMark: () => 0,
  prepare: async () => undefined,
});

async function accept(name: string, validUntil: number): Promise<void> {
  accepted = { name, validUntil };
  await authorize(`Bearer ${tokenOf(name)}`, 'subscription:read');
  /other/.test('other'); // V8 keeps the last string that a regular expression matched
}

async function isInMemory(textOf: (name: string) => string): Promise<boolean> {
  const chunks: Buffer[] = [];
  for await (const chunk of getHeapSnapshot()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).includes(textOf('first'));
}

const look = async () => ({ token: await isInMemory(tokenOf), decision: await isInMemory(tenantOf) });

await accept('first', 1);
const living = await look();
now = 1;
await sleep(1_100); // expired entries are removed by whole seconds
await accept('second', 3);
process.stdout.write(JSON.stringify({ living, ended: await look() }));
