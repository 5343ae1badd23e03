import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { onCluster, openPostgres, postgresUrl } from '../../../../test/support/engines.ts';
import { urlOf } from '../../../../test/support/global-setup.ts';
import { hasCitus, missingOnWorkers } from '../../storage/postgres/database-facts.ts';

// Tests that need no Citus extension; test/citus/ has the rest.

describe('a role that Citus connects to workers as', () => {
  const role = `worker_${randomBytes(6).toString('hex')}`;
  let client: pg.Client;
  const stateOf = async (name: string) => {
    const { rows } = await client.query(
      `select rolcanlogin as login, (select setconfig from pg_db_role_setting where setrole = r.oid) as settings
       from pg_roles as r where rolname = $1`,
      [name],
    );
    return rows[0];
  };
  beforeAll(async () => {
    client = await connectPostgres(await postgresUrl());
    await client.query(`create role ${role} nologin`);
  });
  afterAll(async () => {
    await client.query(`drop role ${role}`);
    await client.end();
  });

  const prepare = async (): Promise<void> => {
    for (const statement of await missingOnWorkers(client, role)) await client.query(statement);
  };

  test('may log in and has our session options once the missing statements were run (C3, C4)', async () => {
    expect(await missingOnWorkers(client, role)).toHaveLength(6);
    await prepare();
    expect(await missingOnWorkers(client, role)).toEqual([]);
    expect(await stateOf(role)).toEqual({
      login: true,
      settings: ['enable_seqscan=off', 'enable_bitmapscan=off', 'enable_sort=off', 'enable_material=off', 'jit=off'],
    });
    const session = await connectPostgres(urlOf(await postgresUrl(), 'postgres', role));
    const { rows } = await session.query("select current_setting('enable_seqscan') as value");
    await session.end();
    expect(rows).toEqual([{ value: 'off' }]);
  });

  test('keeps its own setting of another option', async () => {
    await client.query(`alter role ${role} set work_mem = '5MB'`);
    await prepare();
    expect((await stateOf(role)).settings).toContain('work_mem=5MB');
  });

  test.skipIf(onCluster)(
    'is left unchanged without the extension: the role that superusers switch to may not log in',
    async () => {
      const opened = await openPostgres('postgres', true);
      await opened.store.migrate();
      expect(await hasCitus(client)).toBe(false);
      expect(await stateOf('subreport_tenant')).toEqual({ login: false, settings: null });
      await opened.close();
    },
  );
});
