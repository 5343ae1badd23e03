import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { onCluster, openPostgres, postgresUrl, type TestStore } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { testRole, urlOf } from '../../../../test/support/global-setup.ts';
import { makeNewerVersion, type NewerVersion } from '../../../../test/support/newer-version.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { type RunningCommand, startCommand } from '../../../../test/support/run-command.ts';
import type { TenantId } from '../../storage/store.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

describe('a migration on PostgreSQL while the tables are in use', () => {
  let newer: NewerVersion;
  let opened: TestStore;
  let user: pg.Client;
  let migrating: RunningCommand | undefined;
  beforeAll(() => {
    newer = makeNewerVersion({ compatible: true });
  });
  afterAll(() => newer.remove());
  beforeEach(async () => {
    opened = await openPostgres(testRole);
    await insertTenant(opened.store, 'acme', 1);
    user = await connectPostgres(opened.environment.DATABASE_URL);
  });
  afterEach(async () => {
    migrating?.child.kill('SIGKILL');
    await user.end();
    await opened.close();
  });

  /** Starts the migration and waits until it waits for a table that `user` has locked. */
  async function startMigrating(): Promise<RunningCommand> {
    migrating = startCommand(['migrate'], {
      environment: opened.environment,
      program: [process.execPath, newer.main],
    });
    const waiting = `select 1 from pg_locks where not granted and relation is not null
      and database = (select oid from pg_database where datname = current_database())`;
    await eventually(async () => expect((await user.query(waiting)).rows).toHaveLength(1));
    return migrating;
  }

  test('lets reports be read while it waits for an export to finish', async () => {
    await user.query('begin; select 1 from subscription');
    const { ended, child } = await startMigrating();
    const read = () =>
      opened.store.readTenant('acme' as TenantId, (reader) =>
        reader.all('select id from subscription where tenant_id = $1'),
      );
    for (let times = 0; times < 3; times += 1) expect(await read()).toEqual([]);
    expect(child.exitCode).toBeNull();
    await user.query('commit');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('waits for a writer of records before it locks any table, so that neither ends in a deadlock', async () => {
    // as every write of records begins
    await user.query("begin; select id from tenant where id = 'acme' for update");
    const { ended } = await startMigrating();
    await user.query("select set_tenant('acme')");
    expect((await user.query("delete from subscription where tenant_id = 'acme'")).rowCount).toBe(0);
    await user.query('commit');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    const loaded = await opened.store.loadSubscriptions('acme' as TenantId, [subscriptionRow({ id: 'a' })]);
    expect(loaded.inserted).toBe(1);
  });

  // its coordinator would run the trigger's function on the workers too
  test.skipIf(onCluster).each([
    { times: 2, expected: { code: 0, stderr: '' } },
    { times: 9, expected: { code: 75, stderr: expect.stringContaining('tuple concurrently updated') } },
  ])('is attempted again after $times internal errors in a row, but not for ever', async ({ times, expected }) => {
    const database = new URL(opened.environment.DATABASE_URL ?? '').pathname.slice(1);
    const superuser = await connectPostgres(urlOf(await postgresUrl(), database, 'postgres'));
    await superuser.query(
      `create sequence attempt; grant usage on sequence attempt to public;
       create function fail() returns event_trigger language plpgsql as $$ begin
         if nextval('attempt') <= ${times} then
           raise exception 'tuple concurrently updated' using errcode = 'internal_error';
         end if;
       end $$;
       create event trigger failing on ddl_command_start execute function fail()`,
    );
    await superuser.end();
    const { ended } = startCommand(['migrate'], {
      environment: opened.environment,
      program: [process.execPath, newer.main],
    });
    expect(await ended).toMatchObject(expected);
  });
});
