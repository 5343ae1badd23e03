import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hasTools } from '../../../test/support/has-tools.ts';
import { waitMsMax } from '../../../test/support/wait-limit.ts';
import { errorStatuses, tokenErrorStatuses } from '../../contract/error-code.ts';
import { inWords } from '../../contract/in-words.ts';
import { ApiError, createClient, SubreportError } from '../index.ts';
import { type ClientService, optionsOf, startClientService } from './client-service.ts';
import { type Fault, type FaultyProxy, type ProxiedRequest, startFaultyProxy } from './faulty-proxy.ts';
import { createManualClock } from './manual-clock.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const python = join(root, 'clients/python');
const run = promisify(execFile);

/** A call of either client, by the names of the TypeScript client. */
interface Call {
  readonly method: string;
  readonly positional?: readonly unknown[];
  readonly query?: Readonly<Record<string, unknown>>;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly read?: readonly [method: string, options: Readonly<Record<string, unknown>>];
}

type Outcome = { readonly result: unknown } | { readonly error: { readonly code?: string; readonly name: string } };

/** Runs calls of the Python client in one process. */
function runPython(options: object, calls: readonly Call[], threads = 1): Promise<Outcome[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome[]>();
  const child = execFile(
    'python3',
    [join(root, 'packages/client/test/python_calls.py')],
    { maxBuffer: 2 ** 26, timeout: waitMsMax },
    (error, out, text) => (error === null ? resolve(JSON.parse(out)) : reject(new Error(text, { cause: error }))),
  );
  child.stdin?.end(JSON.stringify({ options: snakeCased(options), calls: calls.map(pythonCall), threads }));
  return promise;
}

const pythonName = (name: string): string =>
  (({ toArray: 'toList', from: 'from_' })[name] ?? name)
    .replaceAll('-', '_')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const snakeCased = (given: object): object =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [pythonName(name), value]));
const pythonCall = ({ method, positional, query = {}, options = {}, read }: Call) => ({
  method: pythonName(method),
  positional,
  query: snakeCased(query),
  options: snakeCased(options),
  read: read && [pythonName(read[0]), read[1]],
});

/** The same calls of the TypeScript client, with the names of the Python client in the results. */
async function runHere(client: ReturnType<ClientService['clientOf']>, calls: readonly Call[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { method, positional = [], query, options, read } of calls) {
    try {
      const given = query === undefined ? [options] : [query, options];
      const target = client as unknown as Record<string, (...values: unknown[]) => unknown>;
      let result = await target[method]?.(...positional, ...given);
      if (read !== undefined) result = await callOn(result, ...read);
      outcomes.push({ result: JSON.parse(JSON.stringify(await plain(result))) });
    } catch (error) {
      outcomes.push({ error: failureOf(error as Error) });
    }
  }
  return outcomes;
}

const callOn = (list: unknown, method: string, options: Readonly<Record<string, unknown>>): unknown => {
  const target = list as Record<string, (value: unknown) => unknown>;
  return target[method]?.(method === 'page' ? options.number : options);
};

async function plain(value: unknown): Promise<unknown> {
  if (value instanceof ReadableStream)
    return {
      total_count: (value as { totalCount?: number }).totalCount,
      explanation: (value as { explanation?: string }).explanation ?? null,
      not_found: (value as { notFound?: object }).notFound,
      text: Buffer.from(await new Response(value).bytes()).toString('latin1'),
    };
  if (value instanceof Date) return value.toISOString();
  if (value !== null && typeof value === 'object' && Symbol.asyncIterator in value)
    return Promise.all((await Array.fromAsync(value as AsyncIterable<unknown>)).map(plain));
  if (value === undefined) return null;
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? pageOf({ ...value }) : value;
}

/** A record, or a page, whose names are those of the Python client. */
function pageOf({ headers: _headers, ...value }: Record<string, unknown>): object {
  if (!('correlationId' in value) && !('hasMore' in value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [pythonName(name), member ?? null]));
}

/** The sentences of the API with the keywords of Python. */
const asKeywords = (message: string): string =>
  message
    .split(/; (?=Cannot )/)
    .map((sentence) => inWords(sentence, (name) => `'${pythonName(name)}'`))
    .join('; ');

function failureOf(error: Error): { name: string; code?: string } {
  if (!(error instanceof SubreportError)) return { name: error.name, message: error.message } as { name: string };
  const { name, code, attempts } = error;
  const message = error instanceof ApiError ? asKeywords(error.message) : error.message;
  const { status, retryAfterMs } = error as { status?: number; retryAfterMs?: number };
  const problem = error instanceof ApiError ? error.problem : undefined;
  return JSON.parse(JSON.stringify({ name, message, code, attempts, status, retry_after_ms: retryAfterMs, problem }));
}

describe.runIf(hasTools('python3'))('the Python client', () => {
  let shared: ClientService;
  let proxy: FaultyProxy | undefined;
  beforeAll(async () => {
    shared = await startClientService({ ACCESS_TOKEN_SECONDS: '10', REFRESH_TOKEN_SECONDS: '60' });
  });
  afterEach(() => proxy?.close());
  afterAll(() => shared.service.close());

  const options = { correlationId: 'golden' };
  const list = (query: object, read?: Call['read'], more: object = {}): Call => ({
    method: 'subscriptions',
    query: { ...query },
    options: { ...options, ...more },
    ...(read && { read }),
  });

  test('returns what the TypeScript client returns', async () => {
    const [first] = shared.rows;
    const { email } = shared.rows.find((row) => row.email !== undefined) ?? {};
    const { value: present } = await shared.clientOf().changes('now').next();
    const calls: Call[] = [
      list({ size: 30 }, ['pages', {}]),
      list({}),
      list({ size: 100 }, ['page', { number: 3 }]),
      list({ size: 5 }, ['page', {}], { parse: true }),
      list({ size: 5, page: 9 }, ['first', {}]),
      list({ 'device-id': 'nobody' }, ['first', {}]),
      list({ id: [first?.id, 'a', 'b', 'c'], iccid: [first?.iccid], size: 2 }, ['pages', {}]),
      list({ status: "Activé '100%'" }, ['page', {}]),
      list({ status: ['ACTIVE', 'DEPLETED'], 'auto-renew': true, after: '2023-11-14T22:13:20Z' }, ['total', {}]),
      list({ sort: '-expirationDate', 'date-field': 'expiration' }, ['toArray', { max: 250 }]),
      list({ email, size: 1 }, ['toArray', { max: 250 }]),
      { method: 'search', query: { status: ['EXPIRED'], 'auto-renew': false, size: 7 }, options, read: ['pages', {}] },
      { method: 'subscription', positional: [first?.id], options: { ...options, parse: true } },
      { method: 'subscription', positional: ['nobody-has/this'], options },
      { method: 'history', positional: [first?.id], options },
      { method: 'findings', options },
      { method: 'summary', query: { by: ['status', 'month'], 'auto-renew': true }, options },
      { method: 'summary', query: {}, options },
      { method: 'summary', query: { status: 'ACTVE' }, options },
      { method: 'export', query: { status: 'ACTIVE' }, options: { ...options, format: 'csv' } },
      { method: 'export', query: { sort: '-createdDate' }, options: { ...options, format: 'ndjson' } },
      { method: 'export', query: {}, options: { ...options, format: 'ndjson', verify: false } },
      { method: 'export', query: { status: 'Activé' }, options: { ...options, format: 'ndjson' } },
      { method: 'export', query: { email }, options: { ...options, format: 'csv' } },
      { method: 'export', query: { status: 'ACTIVE' }, options: { ...options, format: 'parquet' } },
      { method: 'export', query: { 'device-id': 'nobody' }, options: { ...options, format: 'csv' } },
      { method: 'export', query: { id: ['a', first?.id, 'b'] }, options: { ...options, format: 'csv' } },
      { method: 'changes', positional: [null], options: { ...options, size: 100 } },
      { method: 'changes', positional: ['yesterday'], options },
      { method: 'changes', positional: [null], options: { ...options, order: 'newest', field: 'renewal', size: 100 } },
      {
        method: 'changes',
        positional: [null],
        options: { ...options, field: 'status', from: 'ACTIVE', to: 'EXPIRED', 'import-id': 'none', before: true },
      },
      { method: 'changesSummary', positional: [present?.next], options },
      { method: 'changesSummary', positional: [present?.next], options: { ...options, until: '2001-01-01T00:00:00Z' } },
      { method: 'changesSummary', positional: ['2001-01-01T00:00:00Z'], options: { ...options, until: 1 } },
      list({ size: 0, before: 'yesterday' }, ['page', {}]),
      list({ 'expires-within': 'soon' }, ['page', {}]),
    ];
    const here = await runHere(
      shared.clientOf(),
      calls.map((call) => withUndefined(call)),
    );
    const python = await runPython(optionsOf(shared.service, shared.credentials), calls);
    for (const [index, call] of calls.entries()) expect(python[index], JSON.stringify(call)).toEqual(here[index]);
    expect(here.filter((outcome) => 'error' in outcome)).toHaveLength(6);
  });

  const withUndefined = (call: Call): Call =>
    call.positional === undefined ? call : { ...call, positional: call.positional.map((value) => value ?? undefined) };

  /** Puts a proxy before the service; returns the options of a client. */
  async function startProxy(faultOf: Parameters<typeof startFaultyProxy>[1]) {
    proxy = await startFaultyProxy(shared.service.url, faultOf);
    return optionsOf({ url: proxy.url, baseUrl: `${proxy.url}/connect-api` }, shared.credentials);
  }

  /** Runs a call of both clients, each behind a proxy with faults for the first requests. */
  async function behindFaults(faults: readonly Fault[], call: Call, more: object = {}) {
    let left = [...faults];
    const isReport = ({ path }: ProxiedRequest) => path.startsWith('/connect-api');
    const urls = await startProxy((request) => (isReport(request) ? left.shift() : undefined));
    const [python] = await runPython({ ...urls, ...more }, [call]);
    left = [...faults];
    const [here] = await runHere(shared.clientOf({ ...urls, ...more }, shared.credentials, createManualClock()), [
      call,
    ]);
    await proxy?.close();
    proxy = undefined;
    return { python, here };
  }

  const page = list({}, ['page', {}]);
  const exported: Call = { method: 'export', query: {}, options: { ...options, format: 'csv' } };
  const withHeaders = (given: Readonly<Record<string, string | undefined>>): Fault => ({
    edit(body, headers) {
      for (const [name, value] of Object.entries(given))
        if (value === undefined) delete headers[name];
        else headers[name] = value;
      return body;
    },
  });
  const total = list({}, ['total', {}]);
  const edit = (change: (text: string) => string): Fault => ({ edit: (body) => Buffer.from(change(String(body))) });
  test.each<[string, readonly Fault[], Call, string | undefined]>([
    ['a reset connection, repeated', ['reset', 'cut'], page, undefined],
    ['three reset connections', ['reset', 'reset', 'lose'], page, 'CONNECTION_LOST'],
    [
      '503 three times',
      Array(3).fill({ status: 503, body: '{"type":"UNAVAILABLE","detail":"later"}' }),
      page,
      'UNAVAILABLE',
    ],
    [
      '429 with a long Retry-After',
      [{ status: 429, headers: { 'retry-after': '61' }, body: '{"type":"TOO_MANY_REQUESTS","detail":"slow down"}' }],
      page,
      'TOO_MANY_REQUESTS',
    ],
    ...['-5', '1.5', '9'.repeat(30)].map((value): [string, readonly Fault[], Call, string] => [
      `429 with a Retry-After of ${value}, and no detail`,
      Array(3).fill({ status: 429, headers: { 'retry-after': value }, body: '{"type":"TOO_MANY_REQUESTS"}' }),
      page,
      'TOO_MANY_REQUESTS',
    ]),
    ['a redirect', [{ status: 307, headers: { location: 'http://127.0.0.1:1/' } }], page, 'REDIRECTED'],
    ['an error page of a proxy', [{ status: 404, body: '<html>' }], page, 'UNKNOWN_ERROR'],
    ['an unknown code', [{ status: 400, body: '{"type":"NEW"}' }], page, 'UNKNOWN_ERROR'],
    ['a page that is not JSON', [edit(() => '<html>')], page, 'UNKNOWN_FORMAT'],
    ['an error that never ends', [{ endless: ' ', status: 400 }], page, 'UNKNOWN_FORMAT'],
    ['an export that was cut off', ['cut'], exported, 'CONNECTION_LOST'],
    ['an export without its summary', [edit((text) => text.slice(0, -1))], exported, 'INCOMPLETE'],
    ['an export with a row less', [edit((text) => text.replace(/\n[^\n]*\n/, '\n'))], exported, 'ROWS_DIFFER'],
    ['an export that was altered', [edit((text) => text.replace('device', 'Device'))], exported, 'HASH_DIFFERS'],
    ['an export without its proof', [withHeaders({ 'preference-applied': undefined })], exported, 'UNVERIFIABLE'],
    ['an export without a total', [withHeaders({ 'x-total-count': undefined })], exported, undefined],
    ['an export with a total that is no number', [withHeaders({ 'x-total-count': 'many' })], exported, undefined],
    ['a page without a total', [withHeaders({ 'x-total-count': undefined })], total, undefined],
    ...[undefined, '', 'many', '-1', '1e3'].map((value): [string, readonly Fault[], Call, undefined] => [
      `a page whose counts are ${value}`,
      [withHeaders({ 'x-total-count': value, 'x-total-pages': value, 'x-current-page': value })],
      page,
      undefined,
    ]),
    [
      'changes without a revision',
      [withHeaders({ 'x-revision': undefined })],
      { method: 'changes', positional: ['now'], options },
      undefined,
    ],
    [
      'an explanation with control characters',
      [withHeaders({ 'x-explanation': '%1B[31mNo%C2%85%0A' })],
      page,
      undefined,
    ],
    ['an explanation that is not encoded', [withHeaders({ 'x-explanation': 'No 100%' })], page, undefined],
    ['an explanation that is not UTF-8', [withHeaders({ 'x-explanation': 'No%E9' })], page, undefined],
    ['a rejected token', [{ status: 401, body: '{"type":"UNAUTHORISED","detail":"expired"}' }], page, undefined],
    ['a token that a gateway rejects', [{ status: 401, body: '<html>' }], page, undefined],
    ...['7', '[7, null]', '[{ "parameter": "size", "rule": 7 }]'].map(
      (errors): [string, readonly Fault[], Call, string] => [
        `a rejection whose errors are ${errors}`,
        Array(2).fill({ status: 400, body: `{"type":"INVALID_REQUEST_PARAMS","detail":"no","errors":${errors}}` }),
        list({}, ['pages', {}]),
        'INVALID_REQUEST_PARAMS',
      ],
    ),
  ])('treats %s as the TypeScript client does', async (_name, faults, call, code) => {
    const { python, here } = await behindFaults(faults, call);
    expect(python).toEqual(here);
    expect(here && 'error' in here ? here.error.code : undefined).toBe(code);
  });

  const [unlinked, uncounted] = [{ 'x-next-page': undefined }, { 'x-total-count': undefined }];
  const again = withHeaders({ 'x-next-page': '/?page=2' });
  test.each<[string, readonly Fault[], object, string]>([
    ['whose first page has no link', [withHeaders(unlinked)], { size: 100 }, 'null'],
    ['of one page without a total', [withHeaders(uncounted)], {}, 'null'],
    ['whose second page leads to itself', [again, again], { size: 100 }, '/?page=2'],
  ])(
    'takes no part of a report %s for all of it, as the TypeScript client does',
    async (_name, faults, query, link) => {
      const { python, here } = await behindFaults(faults, list(query, ['toArray', { max: 250 }]));
      const rule = 'the response must have X-Next-Page with a new cursor or page, and records';
      const message = `Cannot continue the report: ${rule}: current value is '${link}'`;
      expect(here).toEqual({ error: { name: 'TypeError', message } });
      expect(python).toEqual({ error: { name: 'ValueError', message } });
    },
  );

  test('a service that does not respond is a TimeoutError', async () => {
    const { python, here } = await behindFaults(['hang'], page, { timeoutMs: 1_000, attempts: 1 });
    expect(python).toEqual(here);
    expect(python).toMatchObject({ error: { code: 'TIMEOUT' } });
  });

  test('requests one token for all threads, renews it before it expires, and revokes it', async () => {
    const urls = await startProxy(() => undefined);
    const grants = () =>
      proxy?.requests
        .filter(({ path }) => path.startsWith('/oauth2'))
        .map(({ path, body }) => new URLSearchParams(body).get('grant_type') ?? path);
    await runPython(urls, Array(30).fill(page), 10);
    expect(grants()).toEqual(['client_credentials']);
    const after = (ms: number): Call[] => [{ method: 'advance', positional: [ms] }, page];
    const outcomes = await runPython(urls, [
      page,
      ...after(9_999),
      ...after(59_000),
      ...after(61_000),
      { method: 'revoke' },
    ]);
    expect(outcomes.filter((outcome) => 'error' in outcome)).toEqual([]);
    expect(grants()?.slice(1)).toEqual([
      'client_credentials',
      'refresh_token',
      'refresh_token',
      'client_credentials',
      '/oauth2/revoke',
    ]);
  });

  test.each([
    ['"300"', 'null'],
    ['null', '"1800"'],
    ['1e15', '1e300'],
    ['0', '0'],
  ])(
    'takes a token that is valid for %s, and its refresh token for %s, as the TypeScript client does',
    async (access, refresh) => {
      const lifetimes = `"expires_in":${access},"refresh_expires_in":${refresh}`;
      const fault = edit((text) =>
        text.replace(/,"refresh_expires_in":\d+/, '').replace(/"expires_in":\d+/, lifetimes),
      );
      const urls = await startProxy(({ path }) => (path.endsWith('/token') ? fault : undefined));
      const calls = [list({ size: 1 }, ['total', {}]), list({ size: 2 }, ['total', {}])];
      const python = await runPython(urls, calls);
      const tokens = () => proxy?.requests.filter(({ path }) => path.endsWith('/token')).length ?? 0;
      const [asked, here] = [
        tokens(),
        await runHere(shared.clientOf(urls, shared.credentials, createManualClock()), calls),
      ];
      expect([python, asked]).toEqual([here, tokens() - asked]);
      expect(here).toEqual([{ result: 250 }, { result: 250 }]);
    },
  );

  test('uses the credentials if a refresh token is rejected in words of another server', async () => {
    for (const body of ['no', '{"error":"invalid_request"}']) {
      const fault: Fault = { status: 400, body };
      const isRefresh = ({ body: form }: ProxiedRequest) => form.includes('grant_type=refresh_token');
      const urls = await startProxy((request) => (isRefresh(request) ? fault : undefined));
      const outcomes = await runPython(urls, [page, { method: 'advance', positional: [11_000] }, page]);
      expect(outcomes.filter((outcome) => 'error' in outcome)).toEqual([]);
      await proxy?.close();
    }
    proxy = undefined;
  });

  test('reads the revision of a restored report, which has sixteen digits', async () => {
    const restored = withHeaders({ 'x-revision': '1764260000000001' });
    const { python, here } = await behindFaults([restored], { method: 'changes', positional: ['now'] });
    expect(python).toEqual(here);
    expect(python).toMatchObject({ result: [{ revision: 1_764_260_000_000_001 }] });
  });

  test('follows changes, and begins again with a reset when its token is stale', async () => {
    const left: Fault[] = [
      { status: 503, body: '{}' },
      { status: 410, body: '{"type":"RESYNC_REQUIRED"}' },
    ];
    const isChanges = ({ path }: ProxiedRequest) => path.includes('/changes');
    const urls = await startProxy((request) => (isChanges(request) ? left.shift() : undefined));
    const follow = { method: 'followToEnd', options: { since: 'stale', intervalMs: 1 } };
    const [outcome] = await runPython({ ...urls, attempts: 1 }, [follow]);
    const pages = await Array.fromAsync(shared.clientOf().changes());
    const { changes, next, revision } = pages[0] ?? {};
    const page = { changes, next, has_more: false, revision, reset: true };
    expect(outcome).toEqual({ result: { errors: ['UNKNOWN_ERROR'], pages: [page], saved: [page.next] } });
  });

  test('wrong credentials and arguments are errors that name them', async () => {
    const wrong = { ...optionsOf(shared.service, shared.credentials), clientSecret: 'wrong-secret' };
    const [rejected] = await runPython(wrong, [page]);
    const [here] = await runHere(shared.clientOf({ clientSecret: 'wrong-secret' }), [page]);
    expect(rejected).toEqual(here);
    expect(await runPython({ ...wrong, clientSecret: null }, [])).toEqual({
      name: 'ValueError',
      message: 'Cannot request tokens: client_secret must be given: is CLIENT_SECRET set?',
    });
    expect(await runPython({ ...wrong, baseUrl: 'http://reports.example.com' }, [])).toMatchObject({
      message: expect.stringContaining('Cannot send secrets to a URL'),
    });
    const invalid = await runPython(wrong, [
      list({ status: [] }, ['page', {}]),
      { method: 'summary', query: { email: 'a@b.c' } },
      { method: 'summary', query: { 'device-id': ['a'] } },
      { method: 'subscription', positional: ['changes'] },
      { method: 'history', positional: ['..'] },
    ]);
    expect(invalid).toMatchObject([
      {
        error: {
          message: "Cannot use 'status': it must be a value, or None to omit it: current value is []",
        },
      },
      { error: { message: expect.stringContaining('an email address or ids in a URL') } },
      { error: { message: expect.stringContaining('an email address or ids in a URL') } },
      { error: { message: "Cannot get a subscription: id must be that of a record: current value is 'changes'" } },
      { error: { message: "Cannot get a subscription: id must be that of a record: current value is '..'" } },
    ]);
  });

  test('is packaged reproducibly, and the program of its README runs from the wheel', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-python-'));
    try {
      const build = (name: string) => run('python3', [join(python, 'build_package.py'), join(folder, name)]);
      await Promise.all([build('once'), build('again')]);
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
      const files = [`subreport-${version}-py3-none-any.whl`, `subreport-${version}.tar.gz`];
      for (const file of files)
        expect(readFileSync(join(folder, 'once', file))).toEqual(readFileSync(join(folder, 'again', file)));
      const program = /(?<=```python\n).*?(?=```)/s.exec(readFileSync(join(python, 'README.md'), 'utf8'))?.[0] ?? '';
      const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = shared.credentials;
      const env = { SUBREPORT_URL: shared.service.url, CLIENT_ID, CLIENT_SECRET };
      const PYTHONPATH = join(folder, 'once', files[0] ?? '');
      // mypy reads the annotations only with this file (PEP 561)
      const isTyped = "from importlib.resources import files; print((files('subreport') / 'py.typed').is_file())";
      const { stdout } = await run('python3', ['-c', `${program}\n${isTyped}`], {
        cwd: folder,
        env: { ...process.env, ...env, PYTHONPATH },
      });
      const active = shared.rows.filter(({ status }) => status === 'ACTIVE').length;
      expect(stdout).toMatch(new RegExp(`^${active} active\\n.*\\nTrue\\n$`, 'm'));
      expect(readFileSync(join(folder, 'report.csv'), 'utf8').split('\r\n')).toHaveLength(active + 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('has every method of the TypeScript client and every error code of the contract', () => {
    const source = (file: string) => readFileSync(join(python, 'subreport', `${file}.py`), 'utf8');
    const methods = Object.keys(createClient({ url: 'http://localhost:1', clientId: 'a', clientSecret: 'b' }));
    for (const method of methods) expect(source('client')).toContain(`    def ${pythonName(method)}(`);
    const codesIn = (name: string) =>
      new RegExp(`^${name} = frozenset\\(\\s+"""(.*?)"""`, 'ms').exec(source('errors'))?.[1]?.trim().split(/\s+/);
    expect(codesIn('ERROR_CODES')).toEqual(Object.keys(errorStatuses));
    expect(codesIn('TOKEN_ERROR_CODES')).toEqual(Object.keys(tokenErrorStatuses));
  });
});
