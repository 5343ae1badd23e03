import { DatabaseSync } from 'node:sqlite';
import { decodeJwt } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite, type TestStore } from '../../../../test/support/engines.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { TokenResponse } from '../../../contract/oauth/token.ts';
import { formatAuditEntry } from '../../audit/audit-log.ts';
import { listAuditEntries } from '../../storage/tables/audit-entry.ts';

let opened: TestStore;
let service: TestService;
let client: TestClient;
beforeEach(async () => {
  opened = await openSqlite();
  const settings = { REFRESH_GRACE_SECONDS: '0', LOG_LEVEL: 'warn' };
  service = await startService({ ...opened, close: async () => undefined }, settings);
  client = await service.createClient(await service.createTenant('acme'));
});
afterEach(() => opened.close());

const issue = { grant_type: 'client_credentials' };

/** Stops the service, which records what it counted, and returns the entries. */
async function entries() {
  await service.close();
  const { entries: rows } = await listAuditEntries(opened.store, {}, { limit: 100, after: 0 });
  return rows.map(formatAuditEntry);
}

test('refused token requests are counted by client, address and error; accepted ones are not recorded', async () => {
  await service.postToken({ ...issue, ...client });
  for (let n = 0; n < 3; n += 1) await service.postToken({ ...issue, ...client, client_secret: 'wrong' });
  await service.postToken({ ...issue, ...client, scope: 'unknown' });
  const by = { action: 'token.request', outcome: 'refused', address: '127.0.0.1', client_id: client.client_id };
  const recorded = await entries();
  expect(recorded).toMatchObject([
    { ...by, actor: { kind: 'anonymous' }, tenant: null, error: 'invalid_client', details: { count: 3 } },
    { ...by, actor: { kind: 'client', id: client.client_id }, tenant: 'acme', error: 'invalid_scope' },
  ]);
  expect(service.log.filter(({ msg }) => msg === 'audit')).toMatchObject(recorded);
  expect(JSON.stringify(recorded)).not.toContain(client.client_secret);
});

test('reuse of a refresh token is recorded with its family, and never with the token', async () => {
  const first = (await (await service.postToken({ ...issue, ...client })).json()) as TokenResponse;
  const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '', ...client };
  for (let n = 0; n < 2; n += 1) await service.postToken(refresh);
  const recorded = await entries();
  const { sid: family } = decodeJwt(first.access_token);
  expect(recorded).toMatchObject([
    { action: 'token.reuse', outcome: 'refused', client_id: client.client_id, tenant: 'acme', details: { family } },
  ]);
  expect(JSON.stringify(recorded)).not.toContain(first.refresh_token);
});

test('a sign-in by a page of the service is recorded, whether it succeeds or not', async () => {
  const headers = { 'sec-fetch-site': 'same-origin' };
  await service.postToken({ ...issue, ...client }, headers);
  await service.postToken({ ...issue, ...client, client_secret: 'wrong' }, headers);
  const by = { action: 'console.sign-in', address: '127.0.0.1', client_id: client.client_id };
  expect(await entries()).toMatchObject([
    { ...by, outcome: 'ok', error: null, tenant: 'acme' },
    { ...by, outcome: 'refused', error: 'invalid_client' },
  ]);
});

test('a client id that looks like an email address or a token is not recorded', async () => {
  const wrong = ['ada@example.com', 'ada%40example.com', 'sro_0123456789', client.client_secret];
  for (const client_id of wrong) await service.postToken({ ...issue, client_id, client_secret: 'x' });
  const recorded = await entries();
  expect(recorded.map(({ details }) => details.count)).toEqual([2, 2]);
  for (const each of wrong) expect(JSON.stringify(recorded)).not.toContain(each);
});

test('a refusal that the store cannot record gets its usual response, and the log has it', async () => {
  const other = new DatabaseSync(`${opened.environment.DATA_DIR}/subreport.db`);
  other.exec('drop table audit_entry');
  other.close();
  expect((await service.postToken({ ...issue, ...client, client_secret: 'wrong' })).status).toBe(401);
  await service.close();
  expect(service.log.filter(({ msg }) => msg === 'audit')).toMatchObject([{ id: null, error: 'invalid_client' }]);
  expect(service.log.map(({ msg }) => msg)).toContain('the store did not accept audit entries; only this log has them');
});
