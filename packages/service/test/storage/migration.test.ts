import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { openPostgres } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { makeNewerVersion, type NewerVersion } from '../../../../test/support/newer-version.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { mainProgram } from '../../../../test/support/run-command.ts';
import { dumpPostgres, dumpSqlite } from '../../../../tools/dump-schema.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { listMigrations, parseMigration, pendingMigrations, splitStatements } from '../../storage/migrations.ts';
import { openStore } from '../../storage/open-store.ts';
import { distributedOption } from '../../storage/postgres/session.ts';
import type { TenantId } from '../../storage/store.ts';
import { columnNames, rowColumns } from '../../storage/subscription-row.ts';
import { listTenants } from '../../storage/tables/tenant.ts';

const committed = (engine: string): string => readFileSync(new URL(`schema.${engine}.sql`, import.meta.url), 'utf8');

type Environment = Readonly<Record<string, string>>;

interface EmptyDatabase {
  readonly environment: Environment;
  dump(): Promise<string>;
  /** Runs a statement directly, without the store. */
  run(sql: string): Promise<void>;
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
    remove: async () => rmSync(folder, { recursive: true }),
  };
}

async function makeEmptyDatabase(): Promise<EmptyDatabase> {
  const opened = await openPostgres(testRole, true);
  const url = opened.environment.DATABASE_URL ?? '';
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url, options: distributedOption });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  return {
    environment: opened.environment,
    dump: () => dumpPostgres(url),
    run,
    remove: () => opened.close(),
  };
}

const open = (environment: Environment) =>
  openStore({
    databaseUrl: environment.DATABASE_URL,
    dataDir: environment.DATA_DIR ?? '',
    poolSize: 2,
    onConnectionError: () => undefined,
  });

const literal = (value: string | number | null): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);

/** Creates a tenant with three records. */
async function fill(environment: Environment): Promise<void> {
  const store = open(environment);
  await store.migrate();
  const acme = await addTenant(store, 'acme');
  await store.loadSubscriptions(
    acme,
    ['a', 'b', 'c'].map((id) => subscriptionRow({ id })),
  );
  await store.close();
}

const startMigrate = (environment: Environment, program = mainProgram) =>
  spawn(process.execPath, [program, 'migrate', '--json'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** What a migration prints, which must succeed. */
async function outputOf(child: ReturnType<typeof startMigrate>) {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.anything() });
  return { stdout };
}

let newer: NewerVersion;
beforeAll(() => {
  newer = makeNewerVersion({ compatible: true });
});
afterAll(() => newer.remove());

describe.each(databases)('migrations on $engine', ({ engine, makeEmpty }) => {
  test('run by four processes at once are each applied by one, and all succeed', async () => {
    const database = await makeEmpty();
    const children = Array.from({ length: 4 }, () => startMigrate(database.environment));
    const outputs = await Promise.all(
      children.map(async (child) => {
        const { stdout } = await outputOf(child);
        return JSON.parse(stdout) as { applied: string[]; current: string };
      }),
    );
    const names = listMigrations(engine).map(({ name }) => name);
    expect(outputs.flatMap(({ applied }) => applied).sort()).toEqual(names);
    expect(new Set(outputs.map(({ current }) => current))).toEqual(new Set([names.at(-1)]));
    expect(await database.dump()).toBe(committed(engine));
    await database.remove();
  });

  test('killed at any time are completed by the next run, also on a store with records', async () => {
    const migrateNewer = async (environment: Environment): Promise<void> => {
      await outputOf(startMigrate(environment, newer.main));
    };
    const complete = await makeEmpty();
    await migrateNewer(complete.environment);
    const schema = await complete.dump();
    expect(schema).not.toBe(committed(engine));
    await complete.remove();
    for (let kill = 0; kill < 6; kill += 1) {
      const database = await makeEmpty();
      const isFilled = kill % 2 === 1;
      if (isFilled) await fill(database.environment);
      const child = startMigrate(database.environment, newer.main);
      const closed = once(child, 'close');
      // a process needs some 150 ms until its first statement
      await sleep(120 + kill * 25 + Math.random() * 25);
      child.kill('SIGKILL');
      await closed;
      await migrateNewer(database.environment);
      expect(await database.dump()).toBe(schema);
      const store = open(database.environment);
      await store.checkReady();
      const counted = (await listTenants(store)).map(({ tenant }) => store.readTenant(tenant, checkCounts));
      expect(await Promise.all(counted)).toEqual(isFilled ? [{ rows: 3, problems: [] }] : []);
      await store.close();
      await database.remove();
    }
  });

  test('fill each column that they add, in stored records and in former versions', async () => {
    const database = await makeEmpty();
    const [first] = listMigrations(engine);
    for (const statement of first?.statements ?? []) await database.run(statement);
    await database.run(
      `create table schema_migration (name text not null primary key, checksum text not null, oldest_schema text not null);
       insert into schema_migration values ('${first?.name}', '${first?.checksum}', '${first?.oldestSchema}')`,
    );
    const row = subscriptionRow({ id: 'a' });
    const table = first?.statements.find((statement) => /^create table subscription \(/m.test(statement)) ?? '';
    const columns = rowColumns.filter(({ name }) => new RegExp(`^ +${name} `, 'm').test(table));
    expect(columns.length).toBeGreaterThan(10);
    const names = columns.map(({ name }) => name).join(', ');
    const values = columns.map(({ read }) => literal(read(row))).join(', ');
    await database.run("insert into tenant (id, created_at, revision) values ('acme', 1, 2)");
    await database.run(
      `${engine === 'postgres' ? "select set_tenant('acme');" : ''}
       insert into subscription (tenant_id, revision, ${names}) values ('acme', 2, ${values});
       insert into subscription_version (tenant_id, from_revision, until_revision, ${names}) values ('acme', 1, 2, ${values})`,
    );
    const store = open(database.environment);
    await store.migrate();
    for (const from of ['subscription', 'subscription_version'] as const)
      expect([
        from,
        await store.readTenant('acme' as TenantId, (reader) =>
          reader.all(`select ${columnNames()} from ${from} where tenant_id = $1`),
        ),
      ]).toEqual([from, [Object.fromEntries(rowColumns.map(({ name, read }) => [name, read(row)]))]]);
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

  test('refuse a store of a newer version', async () => {
    const database = await makeEmpty();
    const store = open(database.environment);
    await store.migrate();
    await database.run("insert into schema_migration values ('9999-newer', 'other', '9999-newer')");
    await expect(store.migrate()).rejects.toMatchObject({
      code: 'UNUSABLE',
      message: expect.stringContaining('newer version'),
    });
    await store.close();
    await database.remove();
  });

  test('refuse a store of a version before the first release in a sentence, and leave it as it is', async () => {
    const database = await makeEmpty();
    // as its first version left it, which had neither the column oldest_schema nor most tables
    await database.run('create table schema_migration (name text not null primary key, checksum text not null)');
    await database.run("insert into schema_migration values ('0001-initial', 'other'), ('0002-spans', 'other')");
    const before = await database.dump();
    const store = open(database.environment);
    const refused = {
      code: 'UNUSABLE',
      message: expect.stringMatching(
        /^Cannot use the database: it must have been created by a released version of subreport: current value is a database of a development version, at '0002-spans'; export [^\n]+$/,
      ),
    };
    await expect(store.checkReady()).rejects.toMatchObject(refused);
    await expect(store.migrate()).rejects.toMatchObject(refused);
    await store.close();
    expect(await database.dump()).toBe(before);
    await database.remove();
  });
});

describe('an embedded store to which another process writes', () => {
  let database: EmptyDatabase;
  let file: string;
  beforeEach(async () => {
    database = await makeEmptyFolder();
    file = join(database.environment.DATA_DIR ?? '', 'subreport.db');
  });
  afterEach(() => database.remove());

  test('is opened as soon as the first pages of its file are free', async () => {
    const script = `const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
      database.exec('begin immediate'); console.log('writes'); setTimeout(() => database.exec('rollback'), 500)`;
    const other = spawn(process.execPath, ['-e', script, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(other, 'close');
    await once(other.stdout, 'data');
    const store = open(database.environment);
    expect(await ended).toEqual([0, null]);
    await store.close();
  });

  test('is used without its lock if nothing is to be migrated', async () => {
    await fill(database.environment);
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const store = open(database.environment);
    expect(await store.migrate()).toEqual({ applied: [], current: listMigrations('sqlite').at(-1)?.name });
    expect((await listTenants(store)).map(({ tenant }) => tenant)).toEqual(['acme']);
    other.close();
    await store.close();
  });

  test('is migrated after a transaction that takes longer than an operation may', async () => {
    const { DATA_DIR: dataDir = '' } = database.environment;
    const store = openStore({ databaseUrl: undefined, dataDir, poolSize: 1, operationMs: 20 });
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const migrating = store.migrate();
    await sleep(500);
    other.close();
    expect((await migrating).applied).toEqual(listMigrations('sqlite').map(({ name }) => name));
    await store.close();
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

  test('that is applied is not pending, and must be the same', () => {
    const header = '-- Oldest schema a program must know: 0001-initial\n';
    const [first, second] = ['0001-initial', '0002-next'].map((name) => parseMigration(name, header));
    if (first === undefined || second === undefined) throw new Error('no migrations');
    const known = [first, second];
    expect(pendingMigrations(known, [])).toEqual(known);
    expect(pendingMigrations(known, [first])).toEqual([second]);
    expect(pendingMigrations(known, known)).toEqual([]);
    expect(() => pendingMigrations(known, [first, { ...second, checksum: 'other' }])).toThrow(
      /^Cannot use the database: migration '0002-next' was changed after it had been applied/,
    );
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
    // mkdir of Node never ends in /proc
    for (const path of [join(folder, 'file', 'below'), '/proc/subreport', '/proc/subreport/data'])
      expect(() => open({ DATA_DIR: path })).toThrow(/^Cannot use the data directory .*DATA_DIR/);
    rmSync(folder, { recursive: true });
  });
});
