import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { clock, startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { createOperator } from '../../operator/operators.ts';
import { performOnce } from '../../operator/perform-once.ts';
import { directoryStatement } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/operator/v1/tenants';

describe.each(drawn)('an Idempotency-Key on $engine', ({ engine, openTestStore }) => {
  let management: TestManagement;
  let token: string;
  let keys = 0;
  const post = (url: string, body: object, key: string, bearer = token) =>
    management.send('POST', url, { token: bearer, body, headers: { 'idempotency-key': key } });
  const newKey = (): string => {
    keys += 1;
    return `key-${keys}`;
  };
  beforeAll(async () => {
    management = await startManagement(await openTestStore());
    token = await management.operatorToken('operator:write');
    await post(path, { tenant: 'acme' }, newKey());
  });
  afterAll(() => management.close());

  test('repeats the response, also a secret that is shown once, and is not stored in the clear', async () => {
    const key = newKey();
    const create = () => post('/operator/v1/clients', { tenant: 'acme' }, key);
    const first = await create();
    const again = await create();
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([201, first.body, 'true']);
    const stored = await management.context.store.readDirectory('select response from idempotency_key');
    expect(stored.length).toBeGreaterThan(0);
    expect(JSON.stringify(stored)).not.toContain(first.body.client_secret);
    expect(JSON.stringify(stored)).not.toContain(first.body.client_id);
  });

  test.runIf(engine === 'sqlite')('belongs to one operator and one operation', async () => {
    const key = newKey();
    const other = await management.operatorToken('operator:write');
    const tenants = [await post(path, {}, key), await post(path, {}, key, other)].map(({ body }) => body.tenant);
    expect(new Set(tenants).size).toBe(2);
    expect((await post('/operator/v1/clients', { tenant: 'acme' }, key)).status).toBe(201);
  });

  test.runIf(engine === 'sqlite')('gets 422 with another body or another path', async () => {
    const key = newKey();
    await post(path, { tenant: `t-${key}` }, key);
    const body = await post(path, { tenant: 'other' }, key);
    expect([body.status, body.body.type]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    const clients = await Promise.all([1, 2].map(() => post('/operator/v1/clients', { tenant: 'acme' }, newKey())));
    const [one, two] = clients.map((client) => `/operator/v1/clients/${client.body.client_id}/disable`);
    await post(one ?? '', {}, key);
    expect((await post(two ?? '', {}, key)).status).toBe(422);
  });

  test.runIf(engine === 'sqlite')(
    'can be sent again after an error, and after 24 hours for another request',
    async () => {
      const key = newKey();
      const refused = await post('/operator/v1/clients', { tenant: 'later' }, key);
      await post(path, { tenant: 'later' }, newKey());
      const accepted = await post('/operator/v1/clients', { tenant: 'later' }, key);
      expect([refused.status, accepted.status]).toEqual([404, 201]);
      clock.seconds += 86_401;
      const other = await post('/operator/v1/clients', { tenant: 'acme' }, key);
      expect([other.status, other.headers['idempotency-replayed']]).toEqual([201, undefined]);
    },
  );

  test('gets 409 while the first request runs, and is free after ten minutes, when the first can change nothing', async () => {
    const { store, now } = management.context;
    const [operator] = await store.readDirectory('select id from operator_token limit 1');
    const request = { operatorId: String(operator?.id), operation: 'x', key: newKey(), fingerprint: 'f', token };
    const context = { store, now, onFault: () => undefined };
    const response = { status: 200, body: '{}' };
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = performOnce(context, request, async (keep) => {
      started.resolve();
      await ended.promise;
      await store.transact((directory) => keep(directory, { ...response, body: '{"late":true}' }));
      return response;
    });
    const late = expect(first).rejects.toMatchObject({ code: 'CONFLICT' });
    await started.promise;
    const second = () =>
      performOnce(context, request, async (keep) => {
        await store.transact((directory) => keep(directory, response));
        return response;
      });
    await expect(second()).rejects.toMatchObject({ code: 'CONFLICT' });
    clock.seconds += 601;
    expect(await second()).toMatchObject({ ...response, isReplayed: false });
    ended.resolve();
    await late;
    expect(await second()).toMatchObject({ ...response, isReplayed: true });
  });

  test('a request that ends after ten minutes leaves the key to the one that has taken it since', async () => {
    const { store, now } = management.context;
    const [operator] = await store.readDirectory('select id from operator_token limit 1');
    const request = { operatorId: String(operator?.id), operation: 'x', key: newKey(), fingerprint: 'f', token };
    const context = { store, now, onFault: () => undefined };
    const start = (body: string) => {
      const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const result = performOnce(context, request, async (keep) => {
        begun.resolve();
        await go.promise;
        await store.transact((directory) => keep(directory, { status: 200, body }));
        return { status: 200, body };
      });
      return { result, begun: begun.promise, end: go.resolve };
    };
    const early = start('{"early":true}');
    await early.begun;
    clock.seconds += 601;
    const late = start('{"late":true}');
    await late.begun;
    early.end();
    await expect(early.result).rejects.toMatchObject({ code: 'CONFLICT' });
    late.end();
    expect(await late.result).toMatchObject({ body: '{"late":true}', isReplayed: false });
    expect(await start('{}').result).toMatchObject({ body: '{"late":true}', isReplayed: true });
  });

  test('gets 429 once its operator has sent 10,000 others within 24 hours', async () => {
    const { store } = management.context;
    const { token: busy } = await createOperator(management.context, { name: 'busy', scopes: ['operator:write'] });
    const [operator] = await store.readDirectory("select id from operator_token where name = 'busy'");
    const first = newKey();
    expect((await post(path, {}, first, busy)).status).toBe(201);
    await store.writeDirectory([
      directoryStatement(
        `insert into idempotency_key (operator_id, operation, idempotency_key, fingerprint, created_at)
           with recursive number(n) as (select 2 union all select n + 1 from number where n < 10000)
           select cast($1 as text), 'x', 'many-' || n, 'f', cast($2 as bigint) from number`,
        [String(operator?.id), clock.seconds],
      ),
    ]);
    const full = await post(path, {}, newKey(), busy);
    expect([full.status, full.headers['retry-after'], full.body.messages[0]]).toEqual([
      429,
      '3600',
      expect.stringContaining('at most 10000 different Idempotency-Keys within 24 hours'),
    ]);
    expect((await post(path, {}, first, busy)).headers['idempotency-replayed']).toBe('true');
    expect((await post(path, {}, newKey())).status).toBe(201);
    clock.seconds += 86_401;
    expect((await post(path, {}, newKey(), busy)).status).toBe(201);
  });

  test('exactly one of several concurrent requests runs', async () => {
    const key = newKey();
    const sent = await Promise.all([1, 2, 3, 4].map(() => post(path, { tenant: `once-${key}` }, key)));
    expect(
      sent.filter(({ status, headers }) => status === 201 && headers['idempotency-replayed'] === undefined),
    ).toHaveLength(1);
    expect(sent.filter(({ status, headers }) => status !== 409 && status !== 201 && headers)).toEqual([]);
  });

  test.runIf(engine === 'sqlite').each(['', 'a"b', 'x'.repeat(256)])('%j is not accepted', async (key) => {
    const { status, body } = await post(path, {}, key);
    expect([status, body.errors[0]?.parameter]).toEqual([400, 'Idempotency-Key']);
  });
});
