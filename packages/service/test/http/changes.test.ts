import { readFileSync } from 'node:fs';
import { Check } from 'typebox/value';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { servicesOnEngines, startService, type TestService } from '../../../../test/support/service.ts';
import { type ChangesPage, changesPage } from '../../../contract/change.ts';
import { Problem } from '../../../contract/problem.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { encodeChangeToken, historyFingerprint } from '../../report/change-token.ts';
import type { TenantId } from '../../storage/store.ts';
import { sweepVersions } from '../../storage/tables/sweep-versions.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const records = [...syntheticRows({ count: 40, seed: 6, until: 1_767_225_600 })].map(
  ({ email: _email, ...record }) => record,
);
const rows = records.map((record) => subscriptionRow({ id: record.id, record: JSON.stringify(record) }));

/** Strings that no service issued as a change token, percent-encoded. */
const notTokens = [
  '',
  '0',
  '2024-05-01',
  '2999-05-01T00:00:00Z',
  'W10',
  'WzEsMSxdXQ',
  '%00',
  "'%20or%201=1--",
  'A'.repeat(513),
  ...[
    [2, 1, '', 'x'],
    [1, -1, '', 'x'],
    [1, 1.5, '', 'x'],
    [1, 9_007_199_254_740_992, '', 'x'],
    [1, '1', '', 'x'],
    [1, 1, null, 'x'],
    // walks from the newest change: behind their own end, without an end, with a base below all
    [3, 5, '', 'x', -1, 5, 0, '', 4],
    [3, 5, '', 'x', -1, 5, 0, ''],
    [3, 5, '', 'x', -2, 5, 0, '', 5],
    [3, 5, '', 'x', -1, -2, 0, '', 5],
    [3, 5, '', 'x', -1, 5, -1, '', 5],
    [3, 5, '', 'x', -1, 5, 0, '', 5, 1],
    [1, 1, '\u0000', 'x'],
    [1, 1, 'a'.repeat(300), 'x'],
    [1, 1, '', 5],
    [1, 1, ''],
  ].map((fields) => Buffer.from(JSON.stringify(fields)).toString('base64url')),
].map((text) => ({ text, shown: text.slice(0, 60) }));

describe.each(drawn)('GET /v1/subscription/changes on $engine', ({ openTestStore }) => {
  let service: TestService;
  let tenant: TenantId;
  let token: string;
  let tenants = 0;
  const get = (query = '', headers: Record<string, string> = {}, of = token) =>
    service.get(`/v1/subscription/changes${query}`, of, { 'accept-encoding': 'identity', ...headers });
  const read = async (query = '', of = token) => {
    const response = await get(query, {}, of);
    expect(response.status).toBe(200);
    return (await response.json()) as ChangesPage;
  };
  const tagOf = (response: Response): string => response.headers.get('etag') ?? '';

  beforeAll(async () => {
    service = await startService(await openTestStore());
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    tenants += 1;
    tenant = await service.createTenant(`tenant-${tenants}`);
    token = await service.accessToken(await service.createClient(tenant));
    await service.store.loadSubscriptions(tenant, rows);
    await service.store.deleteSubscriptions(tenant, [rows[3]?.id ?? '']);
  });

  test('a change of a record that has none of the asked fields is JSON, in each format', async () => {
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'bare', status: null })]);
    const { next } = await read('?since=now');
    await service.store.loadSubscriptions(tenant, [
      subscriptionRow({ id: 'bare', status: null, iccid: '894450010219830' }),
    ]);
    const query = `?since=${next}&fields=status`;
    expect((await read(query)).changes).toEqual([{}]);
    const [{ before, ...described } = {}] = (await read(`${query}&before=true`)).changes as Record<string, unknown>[];
    expect([before, described]).toEqual([{}, { kind: 'changed', committed_at: expect.any(String) }]);
    const [line = ''] = (await (await get(query, { accept: 'application/x-ndjson' })).text()).split('\n');
    expect(JSON.parse(line)).toEqual({});
  });

  test('a moment before the history is refused with the instant at which it begins, which can be read', async () => {
    const moment = '2020-01-01T00:00:00Z';
    for (const path of ['/changes?before=true&since', '?all=true&format=csv&as-of', '/summary?as-of']) {
      const past = (instant: string) => service.get(`/v1/subscription${path}=${instant}`, token);
      const problem = await expectProblem(await past(moment), 'HISTORY_NOT_KEPT');
      expect(Check(Problem, problem)).toBe(true);
      const begin = problem.history_begins_at ?? '';
      expect(Math.abs(Date.parse(begin) - Date.now())).toBeLessThan(600_000);
      expect(problem.detail).toContain(begin);
      expect((await past(begin)).status).toBe(200);
      const earlier = new Date(Date.parse(begin) - 1000).toISOString();
      expect((await past(earlier)).status).toBe(410);
    }
    await sweepVersions(service.store, { nowSeconds: Date.now() / 1000, days: 0 });
    const none = await get(`?before=true&since=${moment}`);
    expect(await expectProblem(none, 'HISTORY_NOT_KEPT')).not.toHaveProperty('history_begins_at');
  });

  test('the changes match the contract, records and tombstones, with documented headers only', async () => {
    const response = await get('?size=1000');
    const page = (await response.clone().json()) as ChangesPage;
    expect(Check(changesPage(defaultPageLimits), page)).toBe(true);
    expect(page.changes).toHaveLength(40);
    expect(page.changes.at(-1)).toEqual({ id: rows[3]?.id, removed: true });
    const { paths } = JSON.parse(readFileSync(new URL('../../../../openapi.json', import.meta.url), 'utf8'));
    const documented = Object.keys(paths['/connect-api/v1/subscription/changes'].get.responses['200'].headers);
    const generic = [
      ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'cache-control', 'vary'],
      ...['x-content-type-options', 'content-security-policy', 'referrer-policy'],
    ];
    const known = new Set([...documented.map((name) => name.toLowerCase()), ...generic]);
    for (const each of [response, await get('?size=3')])
      expect([...each.headers.keys()].filter((name) => !known.has(name))).toEqual([]);
  });

  test('since=now returns no changes and a token that only later changes follow', async () => {
    const empty = { changes: [], has_more: false };
    const now = await read('?since=now&size=1');
    expect(now).toEqual({ ...empty, next: (await read('?size=1000')).next });
    expect(await read(`?since=${now.next}`)).toEqual(now);
    await service.store.deleteSubscriptions(tenant, [rows[5]?.id ?? '']);
    const removed = { changes: [{ id: rows[5]?.id, removed: true }], has_more: false };
    expect(await read(`?since=${now.next}`)).toMatchObject(removed);
    const later = await read('?since=now');
    expect(later).toEqual({ ...empty, next: (await read(`?since=${now.next}`)).next });
    const lines = await (await get('?since=now', { accept: 'application/x-ndjson' })).text();
    expect(lines).toBe(`${JSON.stringify({ next: later.next, has_more: false })}\n`);
  });

  test('changes as NDJSON have one change per line and the token on the last line', async () => {
    const response = await get('?size=3', { accept: 'application/x-ndjson' });
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = (await response.text()).split('\n');
    const { changes, next } = await read('?size=3');
    expect(lines).toEqual([
      ...changes.map((change) => JSON.stringify(change)),
      JSON.stringify({ next, has_more: true }),
      '',
    ]);
  });

  test.each(['', '*/*', 'application/*', 'text/csv, application/json;q=0.1'])(
    'Accept: %s gets the changes as JSON',
    async (accept) => {
      expect((await get('', { accept })).headers.get('content-type')).toBe('application/json; charset=utf-8');
    },
  );

  test.each(['text/csv', 'text/html', 'application/json;q=0'])(
    'Accept: %s gets 406 for the changes',
    async (accept) => {
      const { messages } = await expectProblem(await get('', { accept }), 'UNACCEPTABLE');
      expect(messages[0]).toContain('application/json or application/x-ndjson');
    },
  );

  test('HEAD has the headers of GET and no body', async () => {
    const [full, head] = [
      await get('?size=3'),
      await fetch(`${service.baseUrl}/v1/subscription/changes?size=3`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
      }),
    ];
    const ofTheAnswer = 'date server-timing x-correlation-id connection keep-alive'.split(' ');
    const varying = [...ofTheAnswer, 'ratelimit'];
    const headersOf = (response: Response) => [...response.headers].filter(([name]) => !varying.includes(name));
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(headersOf(head)).toEqual(headersOf(full));
  });

  test('a repeated request for changes reads no row until something changes', async () => {
    const { next } = await read('?size=1000');
    const query = `?since=${next}`;
    const tag = tagOf(await get(query));
    const reading = vi.spyOn(service.store, 'readTenant');
    const again = await get(query, { 'if-none-match': tag });
    expect([again.status, await again.text(), tagOf(again)]).toEqual([304, '', tag]);
    expect(reading).not.toHaveBeenCalled();
    reading.mockRestore();
    await service.store.deleteSubscriptions(tenant, [rows[5]?.id ?? '']);
    expect((await get(query, { 'if-none-match': tag })).status).toBe(200);
  });

  test('changes in another format, size or tenant, or after another token, have another ETag', async () => {
    const { next } = await read('?size=2');
    const other = await service.accessToken(await service.createClient(await service.createTenant(`${tenant}-b`)));
    const answers = [
      get(),
      get('?size=2'),
      get(`?since=${next}`),
      get('', { accept: 'application/x-ndjson' }),
      get('', {}, other),
    ];
    const tags = (await Promise.all(answers)).map(tagOf);
    expect(new Set(tags).size).toBe(answers.length);
    expect((await get('', { 'if-none-match': tags[0] ?? '' }, other)).status).toBe(200);
  });

  test('unknown parameters of the changes are rejected with a suggestion, all faults at once', async () => {
    const query =
      '?sincee=x&Since=x&status=ACTIVE&page=2&cursor=x&format=ndjson&all=true&size=0&since=nonsense&email=ada';
    const problem = await expectProblem(await get(query), 'INVALID_REQUEST_PARAMS');
    const names = 'sincee Since status page cursor format all email since size'.split(' ');
    expect(problem.errors.map(({ parameter }) => parameter)).toEqual(names);
    for (const n of [0, 1]) expect(problem.messages[n]).toContain("did you mean 'since'?");
    expect(problem.messages[2]).toContain(
      'one of since, before, order, kind, field, from, to, import-id, fields, size',
    );
    expect(problem.messages.join()).not.toContain("'ada'");
    const twice = await expectProblem(await get('?size=1&size=1&since=a&since=a'), 'INVALID_REQUEST_PARAMS');
    expect(twice.errors.filter(({ rule }) => rule === 'given only once')).toHaveLength(2);
    await expectProblem(await get('?since=%ZZ'), 'INVALID_HTTP_MESSAGE');
  });

  test.each(notTokens)(
    'since=$shown is not a change token, and the response says to start again without it',
    async ({ text }) => {
      const { errors, messages } = await expectProblem(await get(`?since=${text}`), 'INVALID_REQUEST_PARAMS');
      expect(errors).toMatchObject([{ parameter: 'since' }]);
      expect(messages[0]).toContain('or absent to read everything');
    },
  );

  test.each(['0', '-1', '1001', '1e2', '05', '', '%EF%BC%95'])('size=%s is rejected for the changes', async (size) => {
    const { errors } = await expectProblem(await get(`?size=${size}`), 'INVALID_REQUEST_PARAMS');
    expect(errors).toMatchObject([{ parameter: 'size', rule: expect.stringContaining('from 1 to 1000') }]);
  });

  test('a change token of another tenant, from the future or forged gets the same 410', async () => {
    const other = await service.createTenant(`${tenant}-b`);
    await service.store.loadSubscriptions(other, rows);
    const theirs = await service.accessToken(await service.createClient(other));
    const history = await findTenant(service.store, tenant);
    const ahead = { revision: 1_000, id: '' };
    const fingerprint = historyFingerprint(tenant, history ?? { createdAt: 0 }, { key: ahead });
    const tokens = [
      (await read('?size=3', theirs)).next,
      encodeChangeToken({ key: ahead, fingerprint }),
      encodeChangeToken({ key: { revision: 1, id: '' }, fingerprint: 'forged' }),
    ];
    for (const since of tokens) {
      for (const headers of [{}, { 'if-none-match': '*' }] as const) {
        const problem = await expectProblem(await get(`?since=${since}`, headers), 'RESYNC_REQUIRED');
        expect(problem.errors).toMatchObject([{ parameter: 'since', value: null }]);
        expect(problem.messages[0]).toContain("read everything again, without 'since', into an empty copy");
      }
    }
  });

  test('the changes need an access token', async () => {
    await expectProblem(await fetch(`${service.baseUrl}/v1/subscription/changes`), 'UNAUTHORISED');
  });

  test("a record with the id 'changes' is in the report and in the changes", async () => {
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'changes', createdDate: 1 })]);
    expect(JSON.stringify(await read('?size=1000'))).toContain('"id":"changes"');
    expect(await (await service.get('/v1/subscription?size=1', token)).text()).toContain('"id":"changes"');
  });
});

describe.each(servicesOnEngines)('following over HTTP, $service on $engine', ({ openTestStore, processes, start }) => {
  test('a copy that follows the changes ends up equal to the report, whichever process responds', async () => {
    const service = await start(await openTestStore());
    const tenant = await service.createTenant('acme');
    const token = await service.accessToken(await service.createClient(tenant));
    const model = new Map<string, string>();
    const change = async (round: number): Promise<void> => {
      const loaded = rows.filter((_, n) => (n * 7 + round) % 5 === 0).map(({ id }) => id);
      const changed = loaded.map((id) => subscriptionRow({ id, deviceId: `round ${round}` }));
      await service.store.loadSubscriptions(tenant, changed);
      for (const { id, record } of changed) model.set(id, record);
      const removed = loaded.filter((_, n) => n % 3 === 0);
      await service.store.deleteSubscriptions(tenant, removed);
      for (const id of removed) model.delete(id);
    };
    const copy = new Map<string, string>();
    let since = '';
    /** Reads one response, on a connection of its own so that another process may respond. */
    const follow = async (): Promise<void> => {
      const response = await service.get(`/v1/subscription/changes?size=6${since}`, token, { connection: 'close' });
      const { changes, next } = (await response.json()) as ChangesPage;
      expect(response.status).toBe(200);
      for (const each of changes as ({ id: string } | { id: string; removed: true })[]) {
        if ('removed' in each) copy.delete(each.id);
        else copy.set(each.id, JSON.stringify(each));
      }
      since = `&since=${next}`;
    };
    for (let round = 0; round < 40; round += 1) await Promise.all([change(round), follow()]);
    await eventually(async () => {
      await follow();
      expect([...copy].sort()).toEqual([...model].sort());
    });
    const workers = () => service.log.filter(({ tenant: of }) => of === 'acme').map(({ worker }) => worker);
    await eventually(async () => {
      await follow();
      expect(new Set(workers()).size).toBe(processes);
    });
    await service.close();
  });
});

describe('under a rate limit', () => {
  test('requests for changes and summaries count like those of the report', async () => {
    const service = await startService(await engines[0].openTestStore(), { RATE_LIMIT_PER_MINUTE: '2' });
    const token = await service.accessToken(await service.createClient(await service.createTenant('acme')));
    const get = (path: string) => service.get(path, token);
    expect((await get('/v1/subscription')).status).toBe(200);
    const second = await get('/v1/subscription/changes');
    expect([second.status, second.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('r=0')]);
    for (const name of ['changes', 'summary'])
      await expectProblem(await get(`/v1/subscription/${name}`), 'TOO_MANY_REQUESTS');
    await service.close();
  });
});
