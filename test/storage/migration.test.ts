import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { checkCounts } from '../../src/storage/counts/check.ts';
import { listMigrations, pendingMigrations, splitStatements } from '../../src/storage/migrations.ts';
import { openStore } from '../../src/storage/open-store.ts';
import { distributedOption } from '../../src/storage/postgres/session.ts';
import { type ChangeKey, readChanges } from '../../src/storage/read/changes.ts';
import { readPastRecord } from '../../src/storage/read/past.ts';
import { readHistory } from '../../src/storage/tables/history.ts';
import { listTenants } from '../../src/storage/tables/tenant.ts';
import { dumpPostgres, dumpSqlite } from '../../tools/dump-schema.ts';
import { openPostgres } from '../support/engines.ts';
import { testRole } from '../support/global-setup.ts';
import { subscriptionRow } from '../support/rows.ts';
import { mainProgram } from '../support/run-command.ts';

const committed = (engine: string): string =>
  readFileSync(new URL(`../../src/storage/schema.${engine}.sql`, import.meta.url), 'utf8');

interface EmptyDatabase {
  readonly environment: Readonly<Record<string, string>>;
  dump(): Promise<string>;
  /** Runs a statement directly, without the store. */
  run(sql: string): Promise<void>;
  /** Runs a statement that writes records of a tenant. */
  runAs(tenant: string, sql: string): Promise<void>;
  remove(): Promise<void>;
}

const databases = [
  { engine: 'sqlite', makeEmpty: makeEmptyFolder },
  { engine: 'postgres', makeEmpty: makeEmptyDatabase },
] as const;

async function makeEmptyFolder(): Promise<EmptyDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-migrate-'));
  const file = join(folder, 'subreport.db');
  const run = async (sql: string): Promise<void> => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  return {
    environment: { DATA_DIR: folder },
    dump: async () => dumpSqlite(file),
    run,
    runAs: (_tenant, sql) => run(sql),
    remove: async () => rmSync(folder, { recursive: true }),
  };
}

async function makeEmptyDatabase(): Promise<EmptyDatabase> {
  const opened = await openPostgres(testRole, true);
  const url = opened.environment.DATABASE_URL ?? '';
  const run = async (statements: readonly string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: url, options: distributedOption });
    await client.connect();
    for (const sql of statements) await client.query(sql);
    await client.end();
  };
  return {
    environment: opened.environment,
    dump: () => dumpPostgres(url),
    run: (sql) => run([sql]),
    runAs: (tenant, sql) => run(['begin', `select set_tenant('${tenant}')`, sql, 'commit']),
    remove: () => opened.close(),
  };
}

const open = (environment: Readonly<Record<string, string>>) =>
  openStore({
    databaseUrl: environment.DATABASE_URL,
    dataDir: environment.DATA_DIR ?? '',
    poolSize: 2,
    onConnectionError: () => undefined,
  });

const startMigrate = (environment: Readonly<Record<string, string>>) =>
  spawn(process.execPath, [mainProgram, 'migrate', '--json'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

describe.each(databases)('migrations on $engine', ({ engine, makeEmpty }) => {
  test('run by four processes at once are each applied by one, and all succeed', async () => {
    const database = await makeEmpty();
    const children = Array.from({ length: 4 }, () => startMigrate(database.environment));
    const outputs = await Promise.all(
      children.map(async (child) => {
        let text = '';
        child.stdout.on('data', (chunk) => {
          text += chunk;
        });
        const [code] = await once(child, 'close');
        expect(code).toBe(0);
        return JSON.parse(text) as { applied: string[]; current: string };
      }),
    );
    const names = listMigrations(engine).map(({ name }) => name);
    expect(outputs.flatMap(({ applied }) => applied).sort()).toEqual(names);
    expect(new Set(outputs.map(({ current }) => current))).toEqual(new Set([names.at(-1)]));
    expect(await database.dump()).toBe(committed(engine));
    await database.remove();
  });

  test('killed at any time are completed by the next run', async () => {
    for (let kill = 0; kill < 6; kill += 1) {
      const database = await makeEmpty();
      const child = startMigrate(database.environment);
      const closed = once(child, 'close');
      // a process needs some 150 ms until its first statement
      await sleep(120 + kill * 25 + Math.random() * 25);
      child.kill('SIGKILL');
      await closed;
      const store = open(database.environment);
      await store.migrate();
      await store.checkReady();
      await store.close();
      expect(await database.dump()).toBe(committed(engine));
      await database.remove();
    }
  });

  test('give a store of the first version exact counts of each tenant', async () => {
    const database = await makeEmpty();
    const [first] = listMigrations(engine);
    for (const statement of first?.statements ?? []) await database.run(statement);
    await database.run('create table schema_migration (name text not null primary key, checksum text not null)');
    await database.run(`insert into schema_migration values ('${first?.name}', '${first?.checksum}')`);
    for (const [tenant, count] of [
      ['acme', 3_000],
      ['globex', 7],
    ] as const) {
      await database.run(`insert into tenant (id, created_at) values ('${tenant}', 1)`);
      await database.runAs(
        tenant,
        `insert into subscription
        (tenant_id, id, created_date, activation_date, expiration_date, status, product_id, plan_id, iccid, device_id, auto_renew, record)
        with recursive series (i) as (select 1 union all select i + 1 from series where i < ${count})
        select '${tenant}', 'id' || cast(i as text), i % 40, i, i, case when i % 3 = 0 then null when i % 2 = 0 then 'ACTIVE' else 'EXPIRED' end,
          'product-' || cast(i % 2 as text), 'plan', '8944', 'device', 'true', '{}' from series where true
        on conflict do nothing`,
      );
    }
    const store = open(database.environment);
    await store.migrate();
    for (const { tenant } of await listTenants(store)) {
      const rows = tenant === 'acme' ? 3_000 : 7;
      expect(await store.readTenant(tenant, checkCounts)).toEqual({ rows, problems: [] });
    }
    await store.close();
    await database.remove();
  });

  test('give a store of the second version changes: its records have revision 0, and later changes follow', async () => {
    const database = await makeEmpty();
    await database.run('create table schema_migration (name text not null primary key, checksum text not null)');
    for (const { name, checksum, statements } of listMigrations(engine).slice(0, 2)) {
      for (const statement of statements) await database.run(statement);
      await database.run(`insert into schema_migration values ('${name}', '${checksum}')`);
    }
    await database.run("insert into tenant (id, created_at, revision) values ('acme', 1, 7)");
    for (const id of ['b', 'a', 'c'])
      await database.runAs(
        'acme',
        `insert into subscription
        (tenant_id, id, created_date, activation_date, expiration_date, status, product_id, plan_id, iccid, device_id, auto_renew, record)
        values ('acme', '${id}', 1, 1, 1, null, 'product', 'plan', '8944', 'device', 'true', '{"id":"${id}"}')`,
      );
    const store = open(database.environment);
    await store.migrate();
    const [acme] = await listTenants(store);
    if (acme === undefined) throw new Error('the tenant is gone');
    const { tenant } = acme;
    await store.recountSubscriptions(tenant, 1);
    const changesOf = (from: ChangeKey) =>
      store.readTenant(tenant, async (reader) =>
        (await readChanges(reader, { after: from, newestFirst: false, limit: 10 })).map(({ revision, id, record }) => [
          revision,
          id,
          record,
        ]),
      );
    expect(await changesOf({ revision: 0, id: '' })).toEqual(['a', 'b', 'c'].map((id) => [0, id, `{"id":"${id}"}`]));
    await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a', record: 'changed' })]);
    await store.deleteSubscriptions(tenant, ['b']);
    expect(await changesOf({ revision: 0, id: 'b' })).toEqual([
      [0, 'c', '{"id":"c"}'],
      [9, 'a', 'changed'],
      [10, 'b', undefined],
    ]);
    // the history begins before the first change by this version
    const past = (id: string, revision: number) =>
      store.readTenant(tenant, (reader) => readPastRecord(reader, id, revision));
    expect([await past('a', 8), await past('a', 9), await past('b', 8)]).toEqual(['{"id":"a"}', 'changed', undefined]);
    const { kept } = await store.readTenant(tenant, readHistory);
    expect(kept?.from).toBe(7);
    await store.close();
    await database.remove();
  });

  test('are required: a store that was not migrated is not ready and says what to do', async () => {
    const database = await makeEmpty();
    const store = open(database.environment);
    await expect(store.checkReady()).rejects.toMatchObject({
      code: 'UNUSABLE',
      message: expect.stringContaining('subreport migrate'),
    });
    await store.close();
    await database.remove();
  });

  test('refuse a migration that was changed after it was applied, and a store of a newer version', async () => {
    const database = await makeEmpty();
    const store = open(database.environment);
    await store.migrate();
    await database.run("update schema_migration set checksum = 'other'");
    await expect(store.checkReady()).rejects.toMatchObject({
      code: 'UNUSABLE',
      message: expect.stringContaining('0001-initial'),
    });
    await expect(store.migrate()).rejects.toMatchObject({ code: 'UNUSABLE' });
    await database.run("update schema_migration set name = '9999-' || name");
    await expect(store.migrate()).rejects.toMatchObject({
      code: 'UNUSABLE',
      message: expect.stringContaining('newer version'),
    });
    await store.close();
    await database.remove();
  });
});

describe('the text of migrations', () => {
  test('is split into statements outside of bodies', () => {
    const text =
      '-- first\ncreate table a (\n  b text\n);\n\ncreate function f() as $$\nbegin\n  select 1;\nend\n$$;\n-- the end\n';
    expect(splitStatements(text)).toEqual([
      '-- first\ncreate table a (\n  b text\n);',
      'create function f() as $$\nbegin\n  select 1;\nend\n$$;',
    ]);
  });

  test('must end its last statement', () => {
    expect(() => splitStatements('create table a (b text)')).toThrow(SyntaxError);
  });

  test('has the same names for both engines', () => {
    const names = (engine: 'sqlite' | 'postgres') => listMigrations(engine).map(({ name }) => name);
    expect(names('sqlite')).toEqual(names('postgres'));
    expect(names('sqlite').every((name, index) => name.startsWith(String(index + 1).padStart(4, '0')))).toBe(true);
  });

  test('that is applied is not pending', () => {
    const [first] = listMigrations('sqlite');
    if (first === undefined) throw new Error('no migration');
    expect(pendingMigrations([first], [])).toEqual([first]);
    expect(pendingMigrations([first], [first])).toEqual([]);
  });
});

describe('the folder of the embedded store', () => {
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  test('gets mode 0700, and every file in it 0600, even if the folder existed and others could read it', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'subreport-folder-'));
    const existing = join(parent, 'existing');
    mkdirSync(existing, { mode: 0o755 });
    for (const folder of [existing, join(parent, 'made', 'deep')]) {
      const store = open({ DATA_DIR: folder });
      await store.migrate();
      expect(mode(folder)).toBe('700');
      for (const file of ['subreport.db', 'subreport.db-wal', 'subreport.db-shm'])
        expect([file, mode(join(folder, file))]).toEqual([file, '600']);
      await store.close();
    }
    rmSync(parent, { recursive: true });
  });

  test('is refused and left unchanged if others can read it and it holds other files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-folder-'));
    const foreign = join(folder, 'foreign');
    mkdirSync(foreign, { mode: 0o755 });
    writeFileSync(join(foreign, 'letter.txt'), 'mine');
    expect(() => open({ DATA_DIR: foreign })).toThrow(/must be readable by its owner only/);
    expect(mode(foreign)).toBe('755');
    rmSync(folder, { recursive: true });
  });

  test('causes an error message if it cannot be a folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-folder-'));
    writeFileSync(join(folder, 'file'), '');
    expect(() => open({ DATA_DIR: join(folder, 'file', 'below') })).toThrow(
      /^Cannot use the data directory .*DATA_DIR/,
    );
    rmSync(folder, { recursive: true });
  });
});
