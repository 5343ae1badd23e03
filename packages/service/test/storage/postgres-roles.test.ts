import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresUrl } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { urlOf } from '../../../../test/support/global-setup.ts';
import type { CommandResult } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { openStore } from '../../storage/open-store.ts';

const roles = readFileSync(new URL('../../../../deploy/postgres-roles.sql', import.meta.url), 'utf8');
const schema = readFileSync(new URL('schema.postgres.sql', import.meta.url), 'utf8');

type Role = 'subreport_owner' | 'subreport_service' | 'subreport_backup';

test('deploy/postgres-roles.sql decides for each table what the service may do with it', () => {
  const tables = [...schema.matchAll(/^create table (\w+)/gm)].map(([, name]) => name);
  const decided = [...roles.matchAll(/^ {4}"(\w+)": "/gm)].map(([, name]) => name);
  expect(decided.toSorted()).toEqual(tables.toSorted());
});

describe('with the roles of deploy/postgres-roles.sql', () => {
  const database = `roles_${randomBytes(6).toString('hex')}`;
  let superuser: string;
  let folder: string;
  const urlAs = (role: Role) => urlOf(superuser, database, role);
  /** Runs a statement as a role, outside the service. */
  const query = async (url: string, sql: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client.query(sql).finally(() => client.end());
  };
  const run = (role: Role, ...args: string[]): Promise<CommandResult> =>
    runHere(args, { DATABASE_URL: urlAs(role), DATA_DIR: folder, MIGRATE_ON_START: 'false' });
  const inDatabase = () => urlOf(superuser, database, 'postgres');

  beforeAll(async () => {
    superuser = await postgresUrl();
    folder = mkdtempSync(join(tmpdir(), 'subreport-roles-'));
    await query(superuser, `create database ${database}`);
    await query(inDatabase(), roles);
    expect(await run('subreport_owner', 'migrate')).toMatchObject({ code: 0 });
    await query(inDatabase(), roles);
  });
  afterAll(async () => {
    await query(superuser, `drop database ${database} with (force)`);
    rmSync(folder, { recursive: true });
  });

  test('every command of an operator works as subreport_service, except migrate', async () => {
    const file = join(folder, 'acme.ndjson');
    const lines = [
      'tenant create acme',
      'client create --tenant acme --client-id one',
      'client rotate --client-id one',
      'client revoke-tokens --client-id one',
      'keys rotate --compromised',
      'keys list',
      'operator create --name night',
      'operator list',
      `generate --subscriptions 50 --output ${file}`,
      `import ${file} --tenant acme --strict`,
      `import ${file} --tenant acme --replace`,
      'subscription delete --tenant acme --id other',
      'doctor --repair',
      'client delete --client-id one',
      'tenant delete acme --yes',
      'tenant create acme',
    ];
    for (const line of lines) {
      const { code, stderr } = await run('subreport_service', ...line.split(' '));
      expect({ line, code, stderr }).toMatchObject({ line, code: 0 });
    }
    const refused = await run('subreport_service', 'migrate');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('MIGRATE_ON_START=false');
  });

  test('the service issues tokens, loads, replaces and reports as subreport_service', async () => {
    const store = openStore({
      databaseUrl: urlAs('subreport_service'),
      dataDir: folder,
      poolSize: 4,
      onConnectionError: () => undefined,
    });
    const management = await freePort();
    const opened = {
      store,
      environment: { DATABASE_URL: urlAs('subreport_service'), DATA_DIR: folder },
      openAgain: () => store,
      close: () => store.close(),
    };
    const service: TestService = await startService(opened, { MANAGEMENT_PORT: String(management) });
    const client = await service.createClient(await service.createTenant('globex'), {
      scopes: ['subscription:read', 'subscription:write'],
    });
    const token = await service.accessToken(client);
    const { stdout } = await runHere(['generate', '--subscriptions', '50', '--output', '-']);
    const url = `http://127.0.0.1:${management}/operator/v1/tenants/globex/subscriptions`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
    // a busy machine may take longer for a connection than the service waits
    for (const mode of ['', '?replace=true'])
      await eventually(async () => {
        const loaded = await fetch(`${url}${mode}`, { method: 'PUT', headers, body: stdout });
        expect({ status: loaded.status, text: await loaded.text() }).toMatchObject({ status: 200 });
      });
    const report = await service.get('/v1/subscription?size=100', token);
    expect((await report.json()) as unknown[]).toHaveLength(50);
    await service.close();
  });

  test.each([
    'alter table subscription disable row level security',
    'drop policy subscription_tenant on subscription',
    'truncate subscription',
    'drop table client',
    'create table other (id int)',
    "update schema_migration set checksum = ''",
    'delete from tenant',
  ])('subreport_service may not: %s', async (sql) => {
    await expect(query(urlAs('subreport_service'), sql)).rejects.toMatchObject({ code: '42501' });
  });

  test('outside the service, a session sees only the records of the tenant that it set', async () => {
    const count = 'select count(*)::int as n from subscription';
    for (const role of ['subreport_service', 'subreport_backup', 'subreport_owner'] as const) {
      const rowsOf = async (tenant: string) =>
        (await query(urlAs(role), `begin; select set_tenant('${tenant}'); ${count}`)) as unknown as pg.QueryResult[];
      expect((await query(urlAs(role), count)).rows).toEqual([{ n: 0 }]);
      expect((await rowsOf('acme')).at(-1)?.rows).toEqual([{ n: 0 }]);
      expect((await rowsOf('globex')).at(-1)?.rows).toEqual([{ n: 50 }]);
    }
  });

  test('subreport_backup writes a backup and changes nothing', async () => {
    const target = mkdtempSync(join(tmpdir(), 'subreport-backup-'));
    const { code, stderr } = await run('subreport_backup', 'backup', join(target, 'backup.db'));
    rmSync(target, { recursive: true });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const change = 'begin read write; update tenant set revision = 0; commit';
    await expect(query(urlAs('subreport_backup'), change)).rejects.toMatchObject({ code: '42501' });
  });

  test('subreport_service adds entries to the audit log, and deletes none but by the retention', async () => {
    const url = urlAs('subreport_service');
    await expect(query(url, 'delete from audit_entry')).rejects.toMatchObject({ code: '42501' });
    await expect(query(url, 'update audit_entry set action = action')).rejects.toMatchObject({ code: '42501' });
    expect((await query(url, 'select sweep_audit_entries(0, 10) as removed')).rows).toEqual([{ removed: '0' }]);
  });

  test('a connection that the server refuses has the remedy of its SQLSTATE', async () => {
    const refusal = async (name: string, role: string, command = ['tenant', 'list']): Promise<string> => {
      const environment = { DATABASE_URL: urlOf(superuser, name, role), DATA_DIR: folder, MIGRATE_ON_START: 'false' };
      return (await runHere(command, environment)).stderr;
    };
    expect(await refusal('no_such_database', 'subreport_service')).toContain(': create the database (docs/');
    expect(await refusal(database, 'no_such_role')).toContain(': create the role, or let pg_hba.conf');
    await query(superuser, `alter database ${database} connection limit 0`);
    expect(await refusal(database, 'subreport_service')).toContain(': lower DATABASE_POOL_SIZE, or raise');
    await query(superuser, `alter database ${database} connection limit -1`);
    await query(superuser, `create database ${database}_new`);
    const rule = "must be allowed to create tables: current value is 'subreport_service'; make it the owner";
    expect(await refusal(`${database}_new`, 'subreport_service', ['migrate'])).toContain(rule);
    await query(superuser, `drop database ${database}_new with (force)`);
  });

  test('doctor reports that the role may not create the temporary tables of a replacement', async () => {
    await query(inDatabase(), `revoke temporary on database ${database} from subreport_service`);
    const { code, stdout, stderr } = await run('subreport_service', 'doctor');
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(`grant temporary on database ${database} to`)]);
    await query(inDatabase(), roles);
  });
});
