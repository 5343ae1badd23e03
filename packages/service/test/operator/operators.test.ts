import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { clock, startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { operatorScopes } from '../../../contract/oauth/grant.ts';
import { operatorApi } from '../../../contract/operator/operations.ts';
import { createOperator, listOperators, revokeOperator } from '../../operator/operators.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/operator/v1/operators';

describe.each(drawn)('operators on $engine', ({ openTestStore }) => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write');
  });
  afterAll(() => management.close());

  test('a token is created, used, listed without its secret and revoked', async () => {
    const { send } = management;
    const body = { name: 'night watch', scopes: ['operator:read'], expires_days: 2 };
    const created = await send('POST', path, { token, body });
    expect([created.status, created.headers['cache-control'], created.body]).toEqual([
      201,
      'no-store',
      expect.objectContaining({ name: 'night watch', scopes: ['operator:read'], revoked_at: null }),
    ]);
    const { token: secret, ...shown } = created.body;
    expect(secret).toMatch(/^sro_[\w-]{43}$/);
    expect((await send('GET', path, { token: secret })).status).toBe(200);
    const listed = await send('GET', path, { token });
    expect(listed.body.data).toContainEqual({ ...shown, last_used_at: expect.any(String) });
    expect(JSON.stringify(listed.body)).not.toContain('sro_');
    const revoked = await send('POST', `${path}/${shown.id}/revoke`, { token });
    expect([revoked.status, revoked.body.revoked_at]).toEqual([200, expect.any(String)]);
    const refused = await send('GET', path, { token: secret });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
    expect(management.logText()).not.toContain('sro_');
  });

  test('a token is rejected from the second at which it expires', async () => {
    const { context, send } = management;
    const { token: secret } = await createOperator(context, { name: 'x', scopes: ['operator:read'], expiresDays: 1 });
    clock.seconds += 86_399;
    expect((await send('GET', path, { token: secret })).status).toBe(200);
    clock.seconds += 1;
    expect((await send('GET', path, { token: secret })).status).toBe(401);
  });

  test('a token that another one creates expires no later than that one', async () => {
    const { context, send } = management;
    const parent = await createOperator(context, { name: 'day', scopes: ['operator:write'], expiresDays: 2 });
    const create = async (expires_days?: number) =>
      send('POST', path, {
        token: parent.token,
        body: { name: `child ${expires_days}`, scopes: ['operator:write'], expires_days },
      });
    const [same, shorter, longer] = [await create(), await create(1), await create(3)];
    expect([same.status, same.body.expires_at]).toEqual([201, parent.expires_at]);
    expect(Date.parse(shorter.body.expires_at)).toBeLessThan(Date.parse(parent.expires_at ?? ''));
    expect([longer.status, longer.body.messages]).toEqual([403, [expect.stringContaining(`${parent.expires_at}`)]]);
  });

  test('a token created again is a 409, until the first one is revoked', async () => {
    const { send } = management;
    const create = () => send('POST', path, { token, body: { name: 'again', scopes: ['operator:read'] } });
    const [first, again] = [await create(), await create()];
    expect([first.status, again.status, again.body.messages]).toEqual([
      201,
      409,
      [expect.stringMatching(/name must not be that of a valid one.*'again'$/)],
    ]);
    expect((await send('POST', `${path}/${first.body.id}/revoke`, { token, body: {} })).status).toBe(200);
    expect((await create()).status).toBe(201);
  });

  test('following next reads every token exactly once', async () => {
    const { context, send } = management;
    for (let n = 0; n < 5; n += 1) await createOperator(context, { name: `n-${n}`, scopes: ['operator:read'] });
    const all = await listOperators(context, '', 1_000);
    const found: { id: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await send('GET', `${path}?limit=2${cursor && `&cursor=${cursor}`}`, { token });
      found.push(...page.body.data);
      cursor = page.body.next;
    }
    expect(found.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });
});

describe('operators', () => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await engines[0].openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write');
  });
  afterAll(() => management.close());

  test('a request without a token gets 401 with a challenge and no error (RFC 6750 §3)', async () => {
    const { status, headers } = await management.send('GET', path);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="subreport"']);
  });

  test.each(Object.entries(operatorApi))(
    '%s needs its scope, and no other one',
    async (_id, { method, path: url, scope }) => {
      const others = operatorScopes.filter((each) => each !== scope);
      const bearer = await management.operatorToken(...others);
      const path = url.replaceAll(/\{\w+\}/g, 'x');
      const { status, headers, body } = await management.send(method, path, { token: bearer });
      const challenge = expect.stringMatching(new RegExp(`error="insufficient_scope".* scope="${scope}"`));
      expect([status, body.type, headers['www-authenticate']]).toEqual([403, 'ACCESS_DENIED', challenge]);
    },
  );

  test('an operator cannot create a token with a scope that its own token does not have', async () => {
    const body = { name: 'more', scopes: ['operator:read', 'subscription:write'] };
    const { status, body: problem } = await management.send('POST', path, { token, body });
    expect([status, problem.messages]).toEqual([403, [expect.stringContaining("'subscription:write'")]]);
  });

  test('after too many failed attempts an address gets 429, but a valid token is accepted', async () => {
    const wrong = `sro_${'x'.repeat(43)}`;
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await management.send('GET', path, { token: wrong })).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await management.send('GET', path, { token })).status).toBe(200);
  });

  test('every fault of a body is reported at once', async () => {
    const body = { nam: 'x', scopes: ['operator:all'], expires_days: 0 };
    const { status, body: problem } = await management.send('POST', path, { token, body });
    expect([status, problem.type]).toEqual([400, 'INVALID_REQUEST_PARAMS']);
    expect(problem.errors.map((fault: { parameter: string }) => fault.parameter)).toEqual([
      ...['nam', 'name', 'scopes', 'expires_days'],
    ]);
  });

  test.each(['limit=0', 'limit=101', 'cursor=x', 'cursor=e30', 'limit=2&limit=3', 'page=2'])(
    'a list with %s gets a 400 that names the parameter',
    async (query) => {
      const { status, body } = await management.send('GET', `${path}?${query}`, { token });
      expect([status, query]).toEqual([400, expect.stringContaining(body.errors[0].parameter)]);
    },
  );

  test('revoking a token that does not exist is an error of the command and 404 of the API', async () => {
    await expect(revokeOperator(management.context, 'op-0')).rejects.toThrow("current value is 'op-0'");
    expect((await management.send('POST', `${path}/op-0/revoke`, { token })).status).toBe(404);
  });
});
