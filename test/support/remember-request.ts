import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSnapshot } from 'node:v8';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createRepeatedRequests } from '../../src/http/listener/repeated-requests.ts';

// Caches the response of a request with a token, and prints whether the token and the response are
// in this process's memory: while the token is valid, and after it has expired.

/** A string that exists in memory only while it is referenced. */
const textOf = (name: string): string => createHash('sha256').update(name).digest('hex');

let now = 0;
const repeated = createRepeatedRequests({
  store: { changeMark: () => 1 },
  logger: { info: () => undefined },
  now: () => now,
  isDraining: () => false,
  limiter: { countRepeated: () => [] },
});

function remember(name: string, expiresAt: number): void {
  const raw = { method: 'GET', url: '/', httpVersion: '1.1', rawHeaders: ['authorization', textOf(`token ${name}`)] };
  repeated.respond(raw as IncomingMessage, {} as ServerResponse);
  const request = { raw, routeOptions: {}, access: { clientId: 'c', tenant: 't', expiresAt } };
  const reply = { getHeaders: () => ({ etag: textOf(`etag ${name}`) }) };
  const answer = { status: 304, body: () => undefined, heldBytes: 0 } as const;
  repeated.keep(request as unknown as FastifyRequest, reply as unknown as FastifyReply, answer);
}

async function isInMemory(name: string): Promise<boolean> {
  const chunks: Buffer[] = [];
  for await (const chunk of getHeapSnapshot()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).includes(textOf(name));
}

remember('first', 1);
const living = { token: await isInMemory('token first'), response: await isInMemory('etag first') };
now = 1;
await sleep(2_100); // the map evicts expired entries by whole seconds
remember('second', 2);
const ended = { token: await isInMemory('token first'), response: await isInMemory('etag first') };
process.stdout.write(JSON.stringify({ living, ended }));
