import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { clock, startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { findClientWithSecrets } from '../../storage/tables/client-secret.ts';

const drawn = drawOne(engines, import.meta.url);

const path = '/operator/v1/clients';

describe.each(drawn)('clients on $engine', ({ openTestStore }) => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write');
    for (const tenant of ['acme', 'initech'])
      await management.send('POST', '/operator/v1/tenants', { token, body: { tenant } });
  });
  afterAll(() => management.close());

  test('a client is created, shown, changed, disabled, enabled, rotated and deleted', async () => {
    const { send, context } = management;
    const body = { tenant: 'acme', client_id: 'a/b c'.replace(' ', '%'), scopes: ['subscription:write'] };
    const created = await send('POST', path, { token, body });
    const credentials = { client_id: 'a/b%c', client_secret: expect.stringMatching(/^[\w-]{43}$/) };
    expect([created.status, created.body]).toEqual([201, credentials]);
    const one = `${path}/${encodeURIComponent('a/b%c')}`;
    expect((await send('GET', one, { token })).body).toMatchObject({
      tenant: 'acme',
      external: false,
      scopes: ['subscription:write'],
      secrets: [{ expires_at: null }],
    });
    const edit = { refresh_token_use: 'reuse', rate_limit_per_minute: 600 };
    const changed = await send('PATCH', one, { token, body: edit });
    expect(changed.body).toMatchObject({ ...edit, scopes: ['subscription:write'] });
    const reset = await send('PATCH', one, { token, body: { refresh_token_use: null } });
    expect(reset.body.refresh_token_use).toBeNull();
    expect((await send('POST', `${one}/disable`, { token })).body.disabled_at).toEqual(expect.any(String));
    clock.seconds += 1;
    const rotated = await send('POST', `${one}/rotate`, { token, body: { overlap_hours: 0 } });
    expect(rotated.body).toMatchObject({ disabled: true, client_secret: expect.not.stringMatching('^$') });
    expect((await findClientWithSecrets(context.store, 'a/b%c', clock.seconds))?.hashes).toHaveLength(1);
    expect((await send('POST', `${one}/enable`, { token })).body.disabled_at).toBeNull();
    expect((await send('GET', `${one}/sessions`, { token })).body).toEqual({ data: [], next: null });
    const revoked = await send('POST', `${one}/revoke-tokens`, { token });
    expect(revoked.body).toEqual({ client_id: 'a/b%c', revoked: 'all' });
    expect((await send('GET', one, { token })).body.tokens_revoked_at).toEqual(expect.any(String));
    expect((await send('DELETE', one, { token })).body).toEqual({ client_id: 'a/b%c', deleted: true });
    for (const [method, suffix] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['POST', '/disable'],
      ['POST', '/revoke-tokens'],
    ] as const)
      expect((await send(method, one + suffix, { token, ...(method === 'PATCH' && { body: {} }) })).status).toBe(
        method === 'PATCH' ? 400 : 404,
      );
  });

  test('an operation that needs no body rejects one with members, and does nothing', async () => {
    const { send } = management;
    const client_id = 'kept';
    await send('POST', path, { token, body: { tenant: 'acme', client_id } });
    const refused = await send('POST', `${path}/${client_id}/disable`, { token, body: { dry_run: true } });
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ parameter: 'dry_run', value: null, rule: 'left out: the body of this operation has no members' }],
    ]);
    const body = { dry_run: true };
    expect((await send('DELETE', `${path}/${client_id}`, { token, body })).status).toBe(400);
    expect((await send('GET', `${path}/${client_id}`, { token })).body.disabled_at).toBeNull();
    expect((await send('DELETE', `${path}/${client_id}`, { token })).status).toBe(200);
  });

  test('a client has a name, which a search and the audit log find', async () => {
    const { send } = management;
    const made = { tenant: 'acme', client_id: 'finance_1', name: 'Finance, Acme' };
    expect((await send('POST', path, { token, body: made })).status).toBe(201);
    await send('POST', path, { token, body: { tenant: 'acme', client_id: 'financeX1' } });
    const found = async (search: string) => {
      const { body } = await send('GET', `${path}?${new URLSearchParams({ search })}`, { token });
      return body.data.map(({ client_id }: { client_id: string }) => client_id);
    };
    expect(await found('ACME')).toEqual(['finance_1']);
    expect(await found('Finance')).toEqual(['financeX1', 'finance_1']);
    expect(await found('finance_')).toEqual(['finance_1']);
    expect(await found('inance')).toEqual(['finance_1']);
    const one = `${path}/finance_1`;
    const named = await send('PATCH', one, { token, body: { name: 'Reports' } });
    expect(named.body).toMatchObject({ name: 'Reports', rate_limit_per_minute: null });
    await send('DELETE', one, { token });
    const { body } = await send('GET', '/operator/v1/audit?action=client.delete&client_id=finance_1', { token });
    expect(body.data[0].details).toEqual({ name: 'Reports' });
    expect((await send('POST', path, { token, body: { ...made, name: 'a\nb' } })).status).toBe(400);
    await send('PATCH', `${path}/financeX1`, { token, body: { name: 'Old' } });
    expect((await send('PATCH', `${path}/financeX1`, { token, body: { name: null } })).body.name).toBeNull();
    await send('DELETE', `${path}/financeX1`, { token });
  });

  test('of two deletions of a client at once, one finds none', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await management.send('POST', path, { token, body: { tenant: 'acme', client_id: id } });
      const both = await Promise.all([id, id].map((each) => management.send('DELETE', `${path}/${each}`, { token })));
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    }
  });

  test('a search finds names in any case of A to Z, page by page, and takes no character for a pattern', async () => {
    const { send } = management;
    const names = { case1: 'ÀTÀ %', case2: 'ÉTÉ Télécom', case3: 'ÀTÀ Télécom', case4: 'été 😀', case5: 'Ete' };
    for (const [client_id, name] of Object.entries(names))
      await send('POST', path, { token, body: { tenant: 'acme', client_id, name } });
    const found = async (search: string) => {
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const asked = new URLSearchParams({ search, limit: '1', ...(cursor !== '' && { cursor }) });
        const { body } = await send('GET', `${path}?${asked}`, { token });
        ids.push(...body.data.map(({ client_id }: { client_id: string }) => client_id));
        cursor = body.next;
      }
      return ids;
    };
    expect(await found('été')).toEqual(['case4']);
    expect(await found('TéLéCOM')).toEqual(['case2', 'case3']);
    expect(await found('😀')).toEqual(['case4']);
    expect(await found('_t_')).toEqual([]);
    expect(await found('%')).toEqual(['case1']);
    for (const id of Object.keys(names)) await send('DELETE', `${path}/${id}`, { token });
  });

  test('what looks like a secret or an email in place of a client id is not kept in the audit log', async () => {
    const { send } = management;
    const pasted = ['s3cret-'.padEnd(43, 'x'), token, 'jane@example.com'];
    for (const id of pasted) await send('POST', `${path}/${id}/disable`, { token });
    const { body } = await send('GET', '/operator/v1/audit?action=client.disable&outcome=refused&limit=3', { token });
    const ids = body.data.map(({ client_id }: { client_id: string }) => client_id);
    expect(ids).toEqual(pasted.map(() => expect.stringMatching(/^\(omitted: /)));
  });

  test('a list has every client once, by tenant, and can be of one tenant', async () => {
    const { send } = management;
    // the ids are not in the order of the tenants
    for (const tenant of ['initech', 'acme'])
      for (const n of [1, 2, 3])
        await send('POST', path, { token, body: { tenant, client_id: `${tenant === 'acme' ? 'z' : 'a'}-${n}` } });
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await send('GET', `${path}?limit=2${cursor && `&cursor=${cursor}`}`, { token });
      found.push(...body.data.map((each: { client_id: string }) => each.client_id));
      cursor = body.next;
    }
    expect(found).toEqual(['z-1', 'z-2', 'z-3', 'a-1', 'a-2', 'a-3']);
    const { body } = await send('GET', `${path}?tenant=initech&limit=3`, { token });
    expect([body.data.map((each: { client_id: string }) => each.client_id), body.next]).toEqual([
      ['a-1', 'a-2', 'a-3'],
      null,
    ]);
  });
});

describe('clients', () => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await engines[0].openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write');
    await management.send('POST', '/operator/v1/tenants', { token, body: { tenant: 'acme' } });
    await management.send('POST', path, { token, body: { tenant: 'acme', client_id: 'taken' } });
  });
  afterAll(() => management.close());

  test.each([
    [{ tenant: 'acme', client_id: 'taken' }, 409],
    [{ tenant: 'nobody' }, 404],
    [{ client_id: 'x' }, 400],
    [{ tenant: 'acme', external: true }, 400],
    [{ tenant: 'acme', client_id: 'x', external: true, grants: ['refresh_token'] }, 400],
    [{ tenant: 'acme', grants: ['password'] }, 400],
    [{ tenant: 'acme', client_secret: 'short' }, 400],
  ])('a client %j cannot be created: %i', async (body, expected) => {
    expect((await management.send('POST', path, { token, body })).status).toBe(expected);
  });

  test('a rejected secret is repeated neither in the response nor in the log', async () => {
    const body = { tenant: 'acme', client_secret: 7_654_321_234 };
    const { status, body: problem } = await management.send('POST', path, { token, body });
    expect([status, problem.errors]).toMatchObject([400, [{ parameter: 'client_secret', value: null }]]);
    expect(JSON.stringify(problem) + management.logText()).not.toContain('7654321234');
  });

  test('an external client has no secret', async () => {
    const body = { tenant: 'acme', client_id: 'portal', external: true };
    expect((await management.send('POST', path, { token, body })).body).toEqual({ client_id: 'portal' });
    expect((await management.send('POST', `${path}/portal/rotate`, { token })).status).toBe(400);
  });

  test('keys are listed and rotated, and a second waiting key gets 409', async () => {
    const { send } = management;
    const keys = '/operator/v1/keys';
    const rotate = (body: object) => send('POST', `${keys}/rotate`, { token, body: { purpose: 'refresh', ...body } });
    expect([(await rotate({})).status, (await rotate({})).body.state]).toEqual([201, 'next']);
    expect((await rotate({})).status).toBe(409);
    const compromised = await rotate({ mode: 'compromised' });
    const { body } = await send('GET', keys, { token });
    expect(body).toEqual({ data: [compromised.body], next: null });
    expect(compromised.body).toMatchObject({ state: 'current' });
  });
});
