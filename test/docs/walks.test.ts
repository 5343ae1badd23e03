import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { generateOperatorToken, hashOperatorToken } from '../../packages/service/auth/verify/authorize-operator.ts';
import { importRecords } from '../../packages/service/import/import-records.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { insertOperatorToken } from '../../packages/service/storage/tables/operator-token.ts';
import { freePort } from '../../tools/free-port.ts';
import { withGeneratedPart } from '../../tools/generated-part.ts';
import { readWalks, type WalkTraces, walksPart } from '../../tools/walks.ts';
import { signIn, signInWith } from '../support/console-session.ts';
import { engines } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startService, type TestService } from '../support/service.ts';
import { type FileTrace, traceFiles } from '../support/trace-files.ts';

const pageFile = new URL('../../docs/contributors/walks.md', import.meta.url);

/** Files that every folder uses are not part of a walk. */
const isVocabulary = (file: string): boolean => /^contract\/|^storage\/[\w-]+$/.test(file);

/** By then, the service has taken its first reading of its metrics, which is part of no walk. */
const firstReadingMs = 2_000;

/** Sends the requests of each walk to a service and returns the files that ran. */
async function traceWalks({ openTestStore }: (typeof engines)[number]): Promise<Map<string, string[]>> {
  const managementPort = String(await freePort());
  const service = await startService(await openTestStore(), {
    MANAGEMENT_PORT: managementPort,
    REQUEST_SECONDS_MAX: '60',
  });
  const tenant = await service.createTenant('acme');
  const rows = Array.from({ length: 3_000 }, (_, n) => subscriptionRow({ id: `id_${n}` }));
  await service.store.loadSubscriptions(tenant, rows);
  const client = await service.createClient(tenant, { scopes: ['subscription:read', 'subscription:write'] });
  const chosen = await service.createClient(tenant, { secret: 'q7Z2kVb9XcN4mRt8LwPyD3sGfHjA6uEe', clientId: 'chosen' });
  const token = await service.accessToken(client);
  const [operator, signingIn] = [generateOperatorToken(), generateOperatorToken()];
  for (const each of [operator, signingIn]) {
    const row = {
      id: hashOperatorToken(each),
      name: 'test',
      scopes: ['operator:write'],
      createdAt: 0,
      expiresAt: null,
    };
    await insertOperatorToken(service.store, row, hashOperatorToken(each));
  }
  const ndjson = [...syntheticRows({ count: 600, seed: 1, until: 1_700_000_000 })]
    .map((row) => JSON.stringify(row))
    .join('\n');
  const csv = await (await service.get('/v1/subscription?format=csv', await service.accessToken(client))).text();

  const send = async (url: string, init: RequestInit = {}): Promise<string> => {
    const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
    const text = await response.text();
    expect([url, response.status, response.ok ? '' : text]).toEqual([url, 200, '']);
    return text;
  };
  const get = (path: string) => send(`${service.baseUrl}/v1/subscription${path}`);
  const put = (query: string) =>
    send(`http://127.0.0.1:${managementPort}/operator/v1/tenants/acme/subscriptions${query}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/x-ndjson' },
      body: ndjson,
    });
  const requests: Record<string, () => Promise<unknown>> = {
    'A page': async () => {
      await get('?size=10');
      for (const page of [1, 50, 51, 52, 53]) await get(`?size=10&page=${page}`);
      await get('?size=10&after=2001-01-01T00:00:00Z'); // the range is remembered by now
      const headers = { 'content-type': 'application/json' };
      await send(`${service.baseUrl}/v1/subscription/search`, { method: 'POST', headers, body: '{"size":5}' });
    },
    'The whole report': () => get('?all=true&format=csv'),
    'A summary': async () => {
      await get('/summary?by=status,product-id,month');
      await get('/summary?by=status&email=ada@example.com');
      await get('/summary?by=month&date-field=expiration');
    },
    'A session of the console': async () => {
      const session = await signIn(service.url, client);
      expect((await session.send('/session')).status).toBe(200);
      expect((await session.send('/session', { method: 'DELETE' })).status).toBe(204);
      const managed = await signInWith(`http://127.0.0.1:${managementPort}`, { token: signingIn });
      expect((await managed.send('/session')).status).toBe(200);
      expect((await managed.send('/session', { method: 'DELETE' })).status).toBe(204);
    },
    Changes: () => get('/changes?size=5'),
    'A token': async () => {
      await service.accessToken(chosen);
      const issued = await service.postToken({ grant_type: 'client_credentials', ...client });
      const { refresh_token } = (await issued.json()) as { refresh_token: string };
      await service.postToken({ grant_type: 'refresh_token', refresh_token, ...client });
    },
    'Loading records': async () => {
      await put('');
      const options = { format: 'csv', dryRun: false, onRejected: () => undefined } as const;
      await importRecords(service.store, tenant, sourceOf(csv), options);
    },
    'A replacement': () => put('?replace=true&remove=3000'),
    'An action of the operator': async () => {
      const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${managementPort}/operator/v1/clients`;
      const response = await fetch(url, { method: 'POST', headers, body: '{"tenant":"acme"}' });
      expect(response.status).toBe(201);
    },
  };
  await sleep(firstReadingMs);
  const trace = await traceFiles();
  try {
    return await runEach(service, trace, requests);
  } finally {
    trace.stop();
    await service.close();
  }
}

async function runEach(service: TestService, trace: FileTrace, requests: Record<string, () => Promise<unknown>>) {
  const ran = new Map<string, string[]>();
  for (const [walk, request] of Object.entries(requests)) {
    // empties what is kept until the change mark changes
    await service.createTenant(`before-${ran.size}`);
    ran.set(
      walk,
      (await trace.during(request)).filter((file) => !isVocabulary(file)),
    );
  }
  return ran;
}

async function* sourceOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const traceBoth = async (): Promise<WalkTraces> => ({
  sqlite: await traceWalks(engines[0]),
  postgres: await traceWalks(engines[1]),
});

/** The page with what ran in both of two recordings. */
function pageOf(page: string, first: WalkTraces, second: WalkTraces): string {
  const inBoth = (engine: keyof WalkTraces) =>
    new Map([...first[engine]].map(([walk, files]) => [walk, intersect(files, second[engine].get(walk) ?? [])]));
  return withGeneratedPart(page, walksPart({ sqlite: inBoth('sqlite'), postgres: inBoth('postgres') }));
}

const intersect = (some: readonly string[], others: readonly string[]): string[] =>
  some.filter((each) => others.includes(each));

test('docs/contributors/walks.md names the files that each kind of request passes (npm run walks)', async () => {
  const page = readFileSync(pageFile, 'utf8');
  const isUpdate = process.env.UPDATE_WALKS === '1';
  const first = await traceBoth();
  if (!isUpdate && pageOf(page, first, first) === page) return;
  // what another test of this process left behind may run during one recording, but not during two
  const now = pageOf(page, first, await traceBoth());
  if (isUpdate) writeFileSync(pageFile, now);
  else expect(page).toBe(now);
});

test('the story of every request in docs/contributors/walks.md names each of its files, and no other', () => {
  const page = readFileSync(pageFile, 'utf8');
  const story = page.split('## Every request, in order')[1]?.split('<!--')[0] ?? '';
  const named = [...story.matchAll(/`([\w/-]+\/[\w-]+)`/g)].map(([, file = '']) => file);
  expect(new Set(named)).toEqual(new Set(readWalks(page).get('Every request')?.both));
});
