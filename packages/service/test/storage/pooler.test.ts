import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { onCluster, openPooled, postgresUrl, type TestStore } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { openStore } from '../../storage/open-store.ts';
import { countMatching } from '../../storage/read/records.ts';
import type { TenantId } from '../../storage/store.ts';
import { disableClient } from '../../storage/tables/client-changes.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

const all = { dateColumn: 'created_date' } as const;

describe('behind a transaction pooler', () => {
  let opened: TestStore;
  let service: TestService;
  let tenant: TenantId;
  const count = () => opened.store.readTenant(tenant, (reader) => countMatching(reader, all));

  beforeAll(async () => {
    opened = await openPooled();
    service = await startService(opened);
    tenant = await service.createTenant('acme');
  });
  afterAll(() => service.close());

  test('two statements of one connection run in two sessions of the server', async () => {
    const client = await connectPostgres(opened.environment.DATABASE_URL);
    const session = async () => (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
    expect(await session()).not.toBe(await session());
    await client.end();
  });

  test('a client that another process disables is rejected at its next request', async () => {
    const client = await service.createClient(tenant);
    const token = await service.accessToken(client);
    const status = async () => (await service.get('/v1/subscription', token)).status;
    expect([await status(), await status()]).toEqual([200, 200]);
    expect(opened.store.changeMark()).toBeUndefined();
    const elsewhere = opened.openAgain();
    await disableClient(elsewhere, client.client_id, 1);
    expect(await status()).toBe(401);
  });

  test('records that another process imports are in the next report', async () => {
    const token = await service.accessToken(await service.createClient(tenant));
    const total = async () => (await service.get('/v1/subscription', token)).headers.get('x-total-count');
    expect([await total(), await total()]).toEqual(['0', '0']);
    await opened.openAgain().loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
    expect(await total()).toBe('1');
  });

  test('one import at a time locks a tenant, and leaves no lock behind in the pooler', async () => {
    const other = opened.openAgain();
    for (let round = 0; round < 3; round += 1) {
      const lock = await opened.store.lockImport(tenant);
      expect(lock?.isHeld()).toBe(true);
      expect(await other.lockImport(tenant)).toBeUndefined();
      await lock?.release();
    }
  });

  test('consecutive replacements succeed in shared sessions', async () => {
    for (const ids of [['a', 'b', 'c'], ['b'], ['b', 'd']]) {
      const replacement = await opened.store.openStagedLoad(tenant);
      for (const id of ids) await replacement.add([subscriptionRow({ id })]);
      await replacement.finish(false);
      await replacement.close();
      expect(await count()).toBe(ids.length);
    }
  });

  test('an export has its own time limits, not those of the role', async () => {
    const snapshot = await opened.store.openSnapshot(tenant, 600_000);
    const [row] = await snapshot.all(
      `select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle
         where 'tenant_id = $1' <> $1`,
    );
    expect(row).toEqual({ statement: '1min', idle: '615s' });
    await snapshot.close();
  });

  test('doctor names the options that the role must have, because a pooler ignores them', async () => {
    const options = (await opened.store.examine()).find(({ check }) => check === 'options');
    // on Citus, the role has those of the planner already
    const missing = onCluster ? /: not in effect are .*statement_timeout/ : /enable_seqscan.*statement_timeout/;
    expect(options).toMatchObject({ ok: false, message: expect.stringMatching(missing) });
    const url = new URL(opened.environment.DATABASE_URL ?? '');
    const role = `test_pooled_${url.pathname.slice(-12)}`;
    const superuser = await connectPostgres(await postgresUrl());
    const statements = readFileSync(new URL('../../../../docs/operators/operating.md', import.meta.url), 'utf8');
    await superuser.query(`create role ${role} login in role ${testRole}`);
    for (const [statement] of statements.matchAll(/^alter role subreport set .*$/gm))
      await superuser.query(statement.replace('subreport', role));
    url.username = role;
    const store = openStore({ databaseUrl: url.href, dataDir: '', poolSize: 1, onConnectionError: () => undefined });
    expect((await store.examine()).find(({ check }) => check === 'options')).toMatchObject({ ok: true });
    await store.close();
    await superuser.query(`drop role ${role}`);
    await superuser.end();
  });

  test('after a failed batch, statements that did not reach the server are prepared again', async () => {
    const wrong = {
      sql: "select 1 / (length($1) - length($1)) as tenant_id where 'tenant_id = $1' <> $1",
      values: [],
    } as const;
    for (const word of ['x', 'y']) {
      const late = { sql: `select '${word}' as word from tenant where 'tenant_id = $1' <> $1` as const, values: [] };
      const both = opened.store.readTenant(tenant, (reader) =>
        Promise.all([wrong, late].map(({ sql }) => reader.all(sql))),
      );
      await expect(both).rejects.toMatchObject({ code: '22012' });
      expect(await opened.store.readTenantOnce(tenant, late)).toEqual([{ word }]);
    }
  });
});

test('a pooler that mixes up prepared statements is refused with a message that says what to do', async () => {
  const opened = await openPooled({ preparedStatements: false });
  await insertTenant(opened.store, 'acme', 1).catch(() => undefined);
  const failures: unknown[] = [];
  for (let round = 0; round < 5; round += 1)
    await findTenant(opened.store, 'acme').catch((error: unknown) => failures.push(error));
  expect(failures[0]).toMatchObject({
    name: 'StorageError',
    code: 'UNUSABLE',
    message: expect.stringContaining('use PgBouncer 1.21 or later with max_prepared_statements above 0'),
  });
  await opened.close();
});
