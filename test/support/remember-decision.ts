import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSnapshot } from 'node:v8';
import { createDecisionCache } from '../../src/auth/decision-cache.ts';
import { clockToleranceSeconds } from '../../src/auth/verify-token.ts';
import type { Store } from '../../src/storage/store.ts';

// Caches the decision on a token, and prints whether the token and the decision are in this
// process's memory: while the token is valid, and after it has expired.

/** A string that exists in memory only while it is referenced. */
const textOf = (name: string): string => createHash('sha256').update(name).digest('hex');

let now = 0;
const decide = createDecisionCache<string>({ store: { changeMark: () => 1 } as Store, now: () => now });
const remember = (name: string, expiresAt: number): void =>
  decide(textOf(`token ${name}`)).keep(textOf(`decision ${name}`), expiresAt);

async function isInMemory(name: string): Promise<boolean> {
  const chunks: Buffer[] = [];
  for await (const chunk of getHeapSnapshot()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).includes(textOf(name));
}

remember('first', 1 - clockToleranceSeconds);
const living = { token: await isInMemory('token first'), decision: await isInMemory('decision first') };
now = 1;
await sleep(2_100); // the map evicts expired entries by whole seconds
remember('second', 2);
const ended = { token: await isInMemory('token first'), decision: await isInMemory('decision first') };
process.stdout.write(JSON.stringify({ living, ended }));
