import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import type { TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

describe.each(drawn)('the audit trail of the token endpoint on $engine', ({ openTestStore }) => {
  let service: TestService;
  let tenant: TenantId;
  let client: TestClient;
  beforeAll(async () => {
    service = await startService(await openTestStore(), { REFRESH_GRACE_SECONDS: '0' });
    tenant = await service.createTenant('acme');
    client = await service.createClient(tenant);
  });
  afterAll(() => service.close());

  const issue = { grant_type: 'client_credentials' };
  let requests = 0;
  /** Sends a form, and returns its log lines and the response. */
  async function send(form: Record<string, string>, path = '/oauth2/token') {
    requests += 1;
    const headers = { 'x-correlation-id': `audit-${requests}` };
    const response = await fetch(service.url + path, { method: 'POST', headers, body: new URLSearchParams(form) });
    const text = await response.text();
    const lines = () => service.log.filter(({ correlation_id: id }) => id === `audit-${requests}`);
    await expect.poll(() => lines().some(({ msg }) => msg === 'request')).toBe(true);
    const line = lines().find(({ msg }) => msg === 'request');
    return { line, lines: lines(), body: (text === '' ? {} : JSON.parse(text)) as TokenResponse };
  }

  test('an issued token is logged with its id, its family, the client and the address', async () => {
    const { line, body } = await send({ ...issue, ...client });
    const { jti, sid } = decodeJwt(body.access_token);
    expect(line).toMatchObject({
      client_id: client.client_id,
      claimed_client_id: client.client_id,
      tenant: 'acme',
      address: '127.0.0.1',
      outcome: 'accepted',
      jti,
      family: sid,
    });
  });

  test('a rejected token request is logged with the claimed client and the error code', async () => {
    const { line } = await send({ ...issue, client_id: 'nobody\r\n{"x":1}', client_secret: 'x' });
    expect(line).toMatchObject({
      client_id: null,
      claimed_client_id: 'nobody\r\n{"x":1}',
      address: '127.0.0.1',
      outcome: 'refused',
      error: 'invalid_client',
    });
    expect((await send({ ...client, grant_type: 'other' })).line).toMatchObject({
      claimed_client_id: client.client_id,
      outcome: 'refused',
      error: 'unsupported_grant_type',
    });
    expect((await send({ token: 'x', ...client }, '/oauth2/introspect')).line).toMatchObject({ outcome: 'accepted' });
  });

  test('a claimed client id is truncated at 255 characters, and left out if it looks like a secret', async () => {
    const long = await send({ ...issue, client_id: 'ab '.repeat(200), client_secret: 'x' });
    expect(long.line?.claimed_client_id).toHaveLength(255);
    const swapped = await send({ ...issue, client_id: client.client_secret, client_secret: client.client_id });
    expect(JSON.stringify(swapped.lines)).not.toContain(client.client_secret);
  });

  test.each<[string, (pair: string, secret: string) => string]>([
    ['id:secret', (pair) => pair],
    ['a form', (_, secret) => `client_secret=${secret}`],
    ['quotes', (_, secret) => `"${secret}"`],
    ['a blank', (_, secret) => ` ${secret}`],
    ['a header', (_, secret) => `Bearer ${secret}`],
    ['HTTP Basic', (pair) => `Basic ${Buffer.from(pair).toString('base64')}`],
    ['base64', (pair) => Buffer.from(pair).toString('base64')],
  ])('a secret in place of the client id is left out with %s, too', async (_, write) => {
    const { client_id: id, client_secret: secret } = client;
    const { line } = await send({ ...issue, client_id: write(`${id}:${secret}`, secret), client_secret: 'x' });
    expect(line?.claimed_client_id).toBe('(omitted: it looks like a secret)');
  });

  test.each(['monkeyJoe', 'sr-5e2ac56118432af3b038d9e6', 'acme-reporting-of-the-whole-group-at-night-in-europe'])(
    'the claimed client id %s is recorded',
    async (id) => {
      const { line } = await send({ ...issue, client_id: id, client_secret: 'x' });
      expect(line?.claimed_client_id).toBe(id);
    },
  );

  test('reuse of a refresh token is a warning with its client, family and address', async () => {
    const first = (await send({ ...issue, ...client })).body;
    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '', ...client };
    expect((await send(refresh)).lines).toHaveLength(1);
    const { lines } = await send(refresh);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 40,
        msg: 'a refresh token was used again; its family is revoked',
        claimed_client_id: client.client_id,
        address: '127.0.0.1',
        family: decodeJwt(first.access_token).sid,
      }),
    );
    expect(JSON.stringify(lines)).not.toContain(first.refresh_token);
  });
});
