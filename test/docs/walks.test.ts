import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { generateOperatorToken, hashOperatorToken } from '../../src/auth/operator-token.ts';
import { importRecords } from '../../src/import/import-records.ts';
import { syntheticRows } from '../../src/import/synthetic-rows.ts';
import { insertOperatorToken } from '../../src/storage/tables/operator-token.ts';
import { freePort } from '../../tools/free-port.ts';
import { signIn, signInWith } from '../support/console-session.ts';
import { engines } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';
import { startService, type TestService } from '../support/service.ts';
import { type FileTrace, traceFiles } from '../support/trace-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [, walksText = ''] =
  /\n## Request paths\n(.*?)\n## /s.exec(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')) ?? [];

/** The files that each walk names, in order. */
const walks = new Map(
  walksText.split('\n### ').map((section) => {
    const [title = ''] = section.split('\n');
    const files = [
      ...section.matchAll(/`((?:audit|auth|cli|http|import|metrics|operator|report|storage|tracing)\/[\w/-]+)`/g),
    ];
    return [title, [...new Set(files.map(([, file = '']) => file))]] as const;
  }),
);
const shared = ['Every request', 'The access token', 'The store'].flatMap((title) => walks.get(title) ?? []);

/** Files that run in threads, with an external issuer or in commands: a trace does not see them. */
const unseen = (file: string): boolean =>
  /-thread$|^storage\/sqlite\/run-count$|^auth\/(external|issuer|fetch-issuer)-\w+|^cli\/(import|local|operator|remote|worker)/.test(
    file,
  );

/** Files that every folder uses are not part of a walk. */
const isVocabulary = (file: string): boolean => /^contract\/|^storage\/[\w-]+$/.test(file);

/** Imports of each source file, by its path without `.ts`. */
const imports = new Map(
  globSync('**/*.ts', { cwd: join(root, 'src') }).map((file) => {
    const paths = readFileSync(join(root, 'src', file), 'utf8').matchAll(/(?:from|import\(|new URL\()\s*'(\.[^']+)'/g);
    return [
      file.replace(/\.ts$/, ''),
      [...paths].map(([, path = '']) => join(dirname(file), path).replace(/\.ts$/, '')),
    ];
  }),
);

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
  const get = (path: string, headers = {}) => send(`${service.baseUrl}/v1/subscription${path}`, { headers });
  /**
   * Twice: the second request has another header, so that it is not a repetition and reaches the
   * page cache.
   */
  const getTwice = async (path: string): Promise<void> => {
    await get(path);
    await get(path, { 'x-again': '1' });
  };
  const put = (query: string) =>
    send(`http://127.0.0.1:${managementPort}/operator/v1/tenants/acme/subscriptions${query}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/x-ndjson' },
      body: ndjson,
    });
  const requests: Record<string, () => Promise<unknown>> = {
    'A page': async () => {
      await getTwice('?size=10');
      for (const page of [1, 50, 51, 52, 53]) await get(`?size=10&page=${page}`);
      await get('?size=10&after=2001-01-01T00:00:00Z'); // the counts are cached by now
      const headers = { 'content-type': 'application/json' };
      await send(`${service.baseUrl}/v1/subscription/search`, { method: 'POST', headers, body: '{"size":5}' });
    },
    'The whole report': () => get('?all=true&format=csv'),
    'A summary': async () => {
      await getTwice('/summary?by=status,product-id,month');
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
    Changes: () => getTwice('/changes?size=5'),
    'A token': async () => {
      await service.accessToken(chosen);
      const issued = await service.postToken({ grant_type: 'client_credentials', ...client });
      const { refresh_token } = (await issued.json()) as { refresh_token: string };
      await service.postToken({ grant_type: 'refresh_token', refresh_token, ...client });
    },
    'Loading records': async () => {
      await put('');
      await put('?strict=true');
      const options = { format: 'csv', dryRun: false, onRejected: () => undefined } as const;
      await importRecords(service.store, tenant, sourceOf(csv), options);
    },
    'A replacement': () => put('?replace=true'),
    'An action of the operator': async () => {
      const headers = {
        authorization: `Bearer ${operator}`,
        'content-type': 'application/json',
        'idempotency-key': '1',
      };
      const url = `http://127.0.0.1:${managementPort}/operator/v1/clients`;
      const response = await fetch(url, { method: 'POST', headers, body: '{"tenant":"acme"}' });
      expect(response.status).toBe(201);
    },
  };
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
    // empties the caches that depend on the change mark
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

/** `walk: file` for each file that runs but is not named, `walk: no file` for the reverse. */
async function findFaults(): Promise<string[]> {
  const traces = [await traceWalks(engines[0]), await traceWalks(engines[1])];
  const everything = traces.flatMap((trace) => [...trace.values()].flat());
  const faults = [...(traces[0]?.keys() ?? [])].flatMap((walk) => {
    const named = walks.get(walk) ?? [];
    const ran = [...new Set(traces.flatMap((trace) => trace.get(walk) ?? []))];
    const also = walk === 'A replacement' ? (walks.get('Loading records') ?? []) : [];
    const missing = ran.filter((file) => ![...named, ...shared, ...also].includes(file));
    const idle = named.filter((file) => !ran.includes(file) && !unseen(file));
    return [...missing.map((file) => `${walk}: ${file}`), ...idle.map((file) => `${walk}: no ${file}`)];
  });
  const idle = shared.filter((file) => !everything.includes(file) && !unseen(file));
  return [...faults, ...idle.map((file) => `shared: no ${file}`)];
}

const intersect = (some: readonly string[], others: readonly string[]): string[] =>
  some.filter((each) => others.includes(each));

describe('the request paths of ARCHITECTURE.md', () => {
  test('name every file that a request passes on either engine, and no other file', async () => {
    const first = await findFaults();
    // what another test of this process left behind may run during one trace, but not during two
    const faults = first.length === 0 ? [] : intersect(first, await findFaults());
    expect(faults).toEqual([]);
  });

  test('name only existing files, each imported by another one of them or by the file that wires the service', () => {
    const wiring = [
      'cli/command-line',
      'cli/open-metrics',
      'cli/serve-command',
      'http/server',
      'metrics/service-metrics',
      'storage/open-store',
    ];
    const named = [...walks.values()].flat();
    const imported = new Set([...wiring, ...named].flatMap((file) => imports.get(file) ?? []));
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((file) => !imports.has(file) || !imported.has(file))).toEqual([]);
  });
});
