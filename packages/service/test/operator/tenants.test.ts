import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { withImportLock } from '../../import/import-lock.ts';
import { importRecords } from '../../import/import-records.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { requireTenant } from '../../operator/require-tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/operator/v1/tenants';
const rows = [...syntheticRows({ count: 40, seed: 3, until: 1_767_225_600 })];
const ndjson = rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe.each(drawn)('tenants on $engine', ({ openTestStore }) => {
  let management: TestManagement;
  let token: string;
  /** Loads `rows` into a tenant. */
  const load = async (name: string): Promise<void> => {
    const { store } = management.context;
    const source = (async function* () {
      yield Buffer.from(ndjson);
    })();
    const options = { format: 'ndjson' as const, dryRun: false, onRejected: () => undefined };
    await importRecords(store, await requireTenant(store, name), source, options);
  };
  beforeAll(async () => {
    management = await startManagement(await openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write');
  });
  afterAll(() => management.close());

  test('a tenant is created, counted, listed and deleted, and then does not exist', async () => {
    const { send } = management;
    const created = await send('POST', path, { token, body: { tenant: 'acme' } });
    expect([created.status, created.body]).toEqual([
      201,
      { tenant: 'acme', created_at: expect.any(String), records: 0, revision: 0, deleting_since: null, ...noImport },
    ]);
    expect((await send('POST', path, { token, body: { tenant: 'acme' } })).status).toBe(409);
    await load('acme');
    expect((await send('GET', `${path}/acme`, { token })).body).toMatchObject({ records: 40, revision: 1 });
    const generated = (await send('POST', path, { token })).body.tenant;
    const first = await send('GET', `${path}?limit=1`, { token });
    expect(first.body.data).toMatchObject([{ tenant: 'acme', records: 40 }]);
    const second = await send('GET', `${path}?limit=1&cursor=${first.body.next}`, { token });
    expect([second.body.data, second.body.next]).toMatchObject([[{ tenant: generated, records: 0 }], null]);
    const deleted = await send('DELETE', `${path}/acme`, { token });
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { tenant: 'acme', deleted: true, clients: 0, rows: expect.any(Number) },
    ]);
    expect(deleted.body.rows).toBeGreaterThanOrEqual(40);
    for (const method of ['GET', 'DELETE'] as const)
      expect((await send(method, `${path}/acme`, { token })).status).toBe(404);
  });

  test('records are erased by id, and unknown ids are counted', async () => {
    const { send } = management;
    await send('POST', path, { token, body: { tenant: 'erased' } });
    await load('erased');
    const ids = [rows[0]?.id, rows[1]?.id, rows[1]?.id, 'unknown'];
    const erased = await send('POST', `${path}/erased/subscriptions/erase`, { token, body: { ids } });
    expect([erased.status, erased.body]).toEqual([200, expect.objectContaining({ asked: 3, deleted: 2, missing: 1 })]);
    expect((await send('GET', `${path}/erased`, { token })).body.records).toBe(38);
  });

  test('records are erased by the email of their subscriber or by their ICCID, which no entry contains', async () => {
    const { send } = management;
    const erase = (body: object) => send('POST', `${path}/erased/subscriptions/erase`, { token, body });
    const left = rows.slice(2);
    const email = left[0]?.email ?? '';
    const other = left.find((row) => row.email !== email);
    const ofEmail = left.filter((row) => row.email === email).length;
    const ofSim = left.filter(({ iccid }) => iccid === other?.iccid).length;
    const byEmail = await erase({ email: email.toUpperCase() });
    expect(byEmail.body).toEqual({ tenant: 'erased', asked: ofEmail, deleted: ofEmail, missing: 0, versions: 0 });
    expect((await erase({ iccid: other?.iccid })).body).toMatchObject({ asked: ofSim, deleted: ofSim, missing: 0 });
    expect((await send('GET', `${path}/erased`, { token })).body.records).toBe(left.length - ofEmail - ofSim);
    expect((await erase({ email })).body).toMatchObject({ asked: 0, deleted: 0 });
    for (const body of [{}, { ids: ['a'], email: 'a@b' }]) expect((await erase(body)).status).toBe(400);
    const { body } = await send('GET', '/operator/v1/audit?action=subscription.erase&limit=5', { token });
    expect(JSON.stringify(body)).not.toContain(email);
  });

  test('a NUL in a path, a filter or a cursor is not passed to the database', async () => {
    const cursor = (...key: string[]): string => Buffer.from(JSON.stringify(key)).toString('base64url');
    const hostile = [
      ...['tenants/%00', 'clients/%00', 'clients/%00/sessions', 'imports/%00', 'imports/%00/errors'],
      ...['imports?tenant=%00', 'clients?tenant=%00', 'audit?tenant=%00'],
      ...['tenants', 'imports', 'operators'].map((list) => `${list}?cursor=${cursor('\0')}`),
      ...[`clients?cursor=${cursor('\0', '')}`, `audit?cursor=${cursor('1.5')}`, `audit?cursor=${cursor('x')}`],
    ];
    for (const url of hostile) {
      const { status, body } = await management.send('GET', `/operator/v1/${url}`, { token });
      expect([url, status, body.detail]).toEqual([url, url.includes('?') ? 400 : 404, expect.any(String)]);
    }
    const writer = await management.operatorToken('subscription:write');
    const headers = { authorization: `Bearer ${writer}`, 'content-type': 'application/x-ndjson' };
    const loaded = await management.app.inject({ method: 'PUT', url: `${path}/%00/subscriptions`, headers });
    expect(loaded.statusCode).toBe(404);
  });
});

describe('tenants', () => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await engines[0].openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
    await management.send('POST', path, { token, body: { tenant: 'acme' } });
  });
  afterAll(() => management.close());

  test('404 for a tenant that does not exist suggests a similar name', async () => {
    const { status, body } = await management.send('GET', `${path}/acmee`, { token });
    expect([status, body.detail]).toEqual([404, expect.stringContaining("did you mean 'acme'?")]);
  });

  test.each(['Acme', 'a b', '-acme', 'a'.repeat(64)])('a tenant cannot have the name %j', async (tenant) => {
    const { status, body } = await management.send('POST', path, { token, body: { tenant } });
    expect([status, body.errors[0].parameter]).toEqual([400, 'tenant']);
  });

  test('while an import runs, a deletion and an erasure get 503 with Retry-After', async () => {
    const { context, send } = management;
    const tenant = await requireTenant(context.store, 'acme');
    await withImportLock(context.store, tenant, async () => {
      const deletion = await send('DELETE', `${path}/acme`, { token });
      const erasure = await send('POST', `${path}/acme/subscriptions/erase`, { token, body: { ids: ['a'] } });
      for (const { status, headers } of [deletion, erasure])
        expect([status, headers['retry-after']]).toEqual([503, expect.any(String)]);
    });
    expect((await send('GET', `${path}/acme`, { token })).body.deleting_since).toBeNull();
  });

  test('an operator with subscription:write loads records into any tenant, others may not', async () => {
    const { app, operatorToken } = management;
    const put = async (name: string, bearer: string) =>
      app.inject({
        method: 'PUT',
        url: `${path}/${name}/subscriptions`,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/x-ndjson' },
        payload: ndjson,
      });
    const loaded = await put('acme', await operatorToken('subscription:write'));
    expect([loaded.statusCode, loaded.json()]).toMatchObject([200, { tenant: 'acme', inserted: 40 }]);
    expect((await put('elsewhere', token)).statusCode).toBe(404);
    const refused = await put('acme', await operatorToken('operator:read', 'operator:write'));
    expect([refused.statusCode, refused.json().messages]).toEqual([
      403,
      [expect.stringContaining("'subscription:write'")],
    ]);
    expect((await put('acme', `sro_${'x'.repeat(43)}`)).statusCode).toBe(401);
  });

  test.each([
    ['PUT', path, 405, 'GET, HEAD, OPTIONS, POST'],
    ['POST', `${path}/acme`, 405, 'DELETE, GET, HEAD, OPTIONS'],
    ['OPTIONS', path, 204, 'GET, HEAD, OPTIONS, POST'],
    ['GET', '/operator/v1/nothing', 404, undefined],
  ] as const)('%s %s gets %i', async (method, url, expected, allow) => {
    const { status, headers } = await management.send(method, url, { token });
    expect([status, headers.allow]).toEqual([expected, allow]);
  });

  test.each([
    ['{"tenant":"a"', 'application/json', 400],
    ['["a"]', 'application/json', 400],
    ['{"tenant":"a","tenant":"b"}', 'application/json', 400],
    ['tenant=a', 'application/x-www-form-urlencoded', 415],
    [JSON.stringify({ tenant: 'a'.repeat(70_000) }), 'application/json', 413],
  ])('the body %.30s as %s gets %i and creates nothing', async (payload, type, expected) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const { statusCode } = await management.app.inject({ method: 'POST', url: path, headers, payload });
    expect(statusCode).toBe(expected);
    expect((await management.send('GET', path, { token })).body.data).toHaveLength(1);
  });

  test('no response has a CORS header, and none may be cached', async () => {
    const headers = { origin: 'https://elsewhere.example' };
    const response = await management.send('GET', path, { token, headers });
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(response.headers['cache-control']).toBe('no-store');
  });
});

const noImport = {
  last_import: null,
  last_good_import_at: null,
  columns: null,
  storage: { total: 0, budget: null },
};
