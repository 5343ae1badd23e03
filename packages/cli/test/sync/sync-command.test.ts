import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase, dropDatabase } from '../../../../test/support/databases.ts';
import { postgresUrl } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { openDestination } from '../../sync/destinations.ts';
import { runSync } from '../../sync/table/run-sync.ts';
import {
  type ChangingReport,
  createChangingReport,
  environmentOf,
  environmentThrough,
  sha256,
} from './changing-report.ts';
import { startLossyProxy } from './lossy-proxy.ts';
import { digestOfCopy } from './read-copy.ts';
import { startBesideFolder } from './start-beside-folder.ts';

let database: string;
const { folder, service } = await startBesideFolder('sync');
let report: ChangingReport;
let count = 0;
beforeAll(async () => {
  const server = await postgresUrl();
  await createDatabase(server, 'sync_commands');
  database = Object.assign(new URL(server), { pathname: '/sync_commands' }).href;
});
beforeEach(async () => {
  count += 1;
  report = await createChangingReport(service, `tenant-${count}`, count);
  await report.load(rows);
});
afterAll(async () => {
  await dropDatabase(await postgresUrl(), 'sync_commands');
});

const rows = Array.from({ length: 25 }, (_, n) => subscriptionRow({ id: `id_${n}`, createdDate: 1_700_000_000 - n }));

const run = (...args: string[]) => runHere(['sync', ...args], environmentOf(service, report.credentials));

/** A database for the copy of one test, and SQL as another program would run it. */
const copies = {
  sqlite: () => {
    const file = join(folder, `copy-${count}.db`);
    return {
      to: `sqlite:${file}`,
      async query(sql: string) {
        const opened = new DatabaseSync(file);
        const found = opened.prepare(sql).all();
        opened.close();
        return found as Record<string, unknown>[];
      },
    };
  },
  postgres: () => ({
    to: database,
    async query(sql: string) {
      const client = new pg.Client({ connectionString: database });
      await client.connect();
      try {
        return (await client.query(sql)).rows as Record<string, unknown>[];
      } finally {
        await client.end();
      }
    },
  }),
};

describe.each(Object.entries(copies))('a copy in %s', (_name, copyOf) => {
  const copyHere = () => ({ ...copyOf(), table: `copy_${count}` });
  const at = ({ to, table }: { to: string; table: string }) => ['--to', to, '--table', table];

  test('is loaded, then follows the changes, and verify compares it with the export', async () => {
    const copy = copyHere();
    const first = await run(...at(copy));
    expect(first).toEqual({ code: 0, stdout: 'copy 25 rows = report 25 rows at revision 1\n', stderr: '' });
    await report.load([subscriptionRow({ id: 'id_3', status: 'DEPLETED' }), subscriptionRow({ id: 'new' })]);
    await report.erase(['id_1', 'id_2']);
    const second = await run(...at(copy), '--json');
    expect(JSON.parse(second.stdout)).toMatchObject({ rows: 24, revision: 3, written: 2, removed: 2, reloaded: false });
    const verified = await run('verify', ...at(copy), '--json');
    expect(JSON.parse(verified.stdout)).toEqual({ revision: 3, rows: 24, sha256: await report.digest() });
    const [row] = await copy.query(`select status, auto_renew from ${copy.table} where id = 'id_3'`);
    expect([row?.status, Boolean(row?.auto_renew)]).toEqual(['DEPLETED', true]);
  });

  test.each([
    ['a table of something else', (table: string) => `delete from subreport_sync where table_name = '${table}'`],
    ['another column', (table: string) => `alter table ${table} add column note text`],
    ['a missing record', (table: string) => `delete from ${table} where id = 'id_4'`],
  ])('changed by somebody else (%s) is refused with exit code 2, and stays as it is', async (_what, changeOf) => {
    const copy = copyHere();
    await run(...at(copy));
    await copy.query(changeOf(copy.table));
    const before = await copy.query(`select * from ${copy.table}`);
    await report.load([subscriptionRow({ id: 'later' })]);
    const { code, stdout, stderr } = await run(...at(copy));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^Cannot sync to table '${copy.table}' of .*: it must .*: current value is`));
    expect(stderr).not.toContain('password');
    expect(await copy.query(`select * from ${copy.table}`)).toEqual(before);
  });

  test('with a changed record is found by verify, and repaired by --reload', async () => {
    const copy = copyHere();
    await run(...at(copy));
    await copy.query(`update ${copy.table} set product_name = 'other' where id = 'id_4'`);
    await copy.query(`create view shown_${copy.table} as select * from ${copy.table}`);
    const verified = await run('verify', ...at(copy));
    expect([verified.code, verified.stdout]).toEqual([1, '']);
    expect(verified.stderr).toMatch(/^Cannot confirm the copy: it must equal the report at revision 1, 25 rows/);
    expect((await run(...at(copy), '--reload')).code).toBe(0);
    expect((await run('verify', ...at(copy))).code).toBe(0);
  });

  test('is not taken over by the client of another tenant', async () => {
    const copy = copyHere();
    await run(...at(copy));
    const other = await createChangingReport(service, `other-${count}`, 1);
    for (const more of [[], ['--reload']]) {
      const { code, stderr } = await runHere(['sync', ...at(copy), ...more], environmentOf(service, other.credentials));
      expect(code).toBe(2);
      expect(stderr).toContain(
        `or drop it: current value is a copy for '${report.credentials.client_id}' of ${service.baseUrl}`,
      );
    }
    expect(await digestOfCopy(copy)).toBe(await report.digest());
  });

  test('is refused to a second sync while one is running', async () => {
    const copy = copyHere();
    const destination = await openDestination(copy, async () => undefined);
    await destination.begin(report.source);
    const { code, stderr } = await run(...at(copy));
    await destination.close();
    expect(code).toBe(75);
    expect(stderr).toMatch(/^Cannot (sync to|use) .*: no other /);
    expect((await run(...at(copy))).code).toBe(0);
  });

  test('has the changes that were made while the whole report was read', async () => {
    const copy = copyHere();
    const { client } = report.source;
    const slow: typeof client = {
      ...client,
      async export(query, options) {
        const whole = await client.export(query, options);
        await report.load([subscriptionRow({ id: 'id_3', status: 'DEPLETED', createdDate: 1_699_999_997 })]);
        return whole;
      },
    };
    const destination = await openDestination(copy, async () => undefined);
    await runSync({ ...report.source, client: slow }, destination);
    expect(await digestOfCopy(copy)).toBe(await report.digest());
  });

  test('counts what it has written, and not what it has read in vain before', async () => {
    const copy = copyHere();
    await run(...at(copy));
    await report.load([subscriptionRow({ id: 'id_3', status: 'DEPLETED' })]);
    await report.erase(['id_1']);
    const { client } = report.source;
    let isStale = true;
    const moving: typeof client = {
      ...client,
      async *changes(since, options) {
        yield* client.changes(since, options);
        if (!isStale || since === 'now') return;
        isStale = false;
        await report.erase(['id_2']);
        await report.loseTombstones();
        yield* client.changes(since, options);
      },
    };
    const destination = await openDestination(copy, async () => undefined);
    const result = await runSync({ ...report.source, client: moving }, destination);
    expect(result).toMatchObject({ rows: 23, written: 23, removed: 0, reloaded: true });
  });

  test('does not change the position of another copy in the same database', async () => {
    const [one, other] = [copyHere(), { ...copyHere(), table: `other_${count}` }];
    for (const copy of [one, other]) await run(...at(copy));
    await report.erase(['id_1']);
    expect(await run(...at(one))).toMatchObject({ code: 0, stdout: expect.stringContaining('at revision 2') });
    const status = await run('status', ...at(other), '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ rows: 25, revision: 1, report_revision: 2 });
  });

  test('has no older revision than the export that it was loaded from', async () => {
    const copy = copyHere();
    const { client } = report.source;
    const [past] = await Array.fromAsync(client.changes('now'));
    if (past === undefined) throw new Error('there must be a page of changes');
    await report.load([subscriptionRow({ id: 'swapped' })]);
    await report.erase(['id_1']); // as many records as before
    let stale = 2;
    const behind: typeof client = {
      ...client,
      async *changes(since, options) {
        stale -= 1;
        // a process of the service that has not noticed yet: its token and revision are the former
        if (stale >= 0) yield { ...past, changes: [] };
        else yield* client.changes(since, options);
      },
    };
    const destination = await openDestination(copy, async () => undefined);
    const { revision } = await runSync({ ...report.source, client: behind }, destination);
    expect(revision).toBe(3);
    expect(await run('verify', ...at(copy))).toMatchObject({ code: 0, stderr: '' });
  });

  test('that lacks a record is never called complete', async () => {
    const copy = copyHere();
    await run(...at(copy));
    const before = await digestOfCopy(copy);
    await report.load([subscriptionRow({ id: 'a' }), subscriptionRow({ id: 'b' })]);
    const destination = await openDestination(copy, async () => undefined);
    const apply = destination.apply.bind(destination);
    destination.apply = (changes) => apply({ ...changes, rows: changes.rows.slice(1) });
    await expect(runSync(report.source, destination)).rejects.toMatchObject({ code: 'NOT_EQUAL' });
    expect(await digestOfCopy(copy)).toBe(before);
  });
});

test('stdout:ndjson gives another program all changes, and continues from the state file', async () => {
  const state = join(folder, 'state.db');
  const held = new Map<string, object>();
  const syncAndApply = async () => {
    const { code, stdout } = await run('--to', 'stdout:ndjson', '--state', state);
    const lines = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    for (const line of lines) {
      if (line.reset === true) held.clear();
      else if (line.removed === true) held.delete(line.id);
      else if ('id' in line) held.set(line.id, line);
    }
    expect([code, Object.keys(lines.at(-1))]).toEqual([0, ['next', 'revision']]);
    return lines.length;
  };
  expect(await syncAndApply()).toBe(27);
  await report.load([subscriptionRow({ id: 'id_3', status: 'DEPLETED', createdDate: 1_699_999_997 })]);
  await report.erase(['id_1']);
  expect(await syncAndApply()).toBe(3);
  const sorted = [...held.values()].sort((a, b) =>
    'createdDate' in a && 'createdDate' in b && String(a.createdDate) < String(b.createdDate) ? -1 : 1,
  );
  expect(sha256(sorted.map((record) => `${JSON.stringify(record)}\n`).join(''))).toBe(await report.digest());
  await report.erase(['id_2']);
  await report.loseTombstones();
  expect(await syncAndApply()).toBe(25);
  const otherState = join(folder, 'other.db');
  for (const [more, lines] of [
    [['--reload'], 25],
    [[], 1],
    [['--reload'], 25],
  ] as const)
    expect((await run('--to', 'stdout:ndjson', '--state', otherState, ...more)).stdout.split('\n')).toHaveLength(
      lines + 1,
    );
  const other = await service.createClient(report.tenant);
  const args = ['sync', '--to', 'stdout:ndjson', '--state', state, '--reload'];
  expect(await runHere(args, environmentOf(service, other))).toMatchObject({ code: 2, stdout: '' });
  expect(readdirSync(folder).filter((name) => name.startsWith('state'))).toEqual(['state.db', 'state.db-lock']);
  writeFileSync(state, 'else');
  expect(await run('--to', 'stdout:ndjson', '--state', state)).toMatchObject({ code: 2, stdout: '' });
  expect(readFileSync(state, 'utf8')).toBe('else');
});

test.each([
  [[], 'Cannot run the command: --to <destination> must be given'],
  [['verfy'], "Cannot run 'sync verfy': it must be verify, status or an option; did you mean 'verify'?\n"],
  [['run', 'sync.yaml'], "Cannot run 'sync sync.yaml': it must be verify"],
  [['--to', 'mysql://root:hidden@db/copy'], 'Cannot use --to: it must be sqlite:FILE, postgres://'],
  ...['me:hidden%ff@localhost', 'me:hidden@%ff'].map(
    (place) => [['--to', `postgres://${place}/copy`], 'Cannot use --to: it must be a URL such as postgres://'] as const,
  ),
  [['--to', 'sqlite:/nowhere/copy.db'], 'Cannot use sqlite:/nowhere/copy.db: it must be a database of SQLite'],
  [['--to', 'sqlite:x.db', '--table', 'Sub"s'], 'Cannot use --table: it must be a name of lower-case letters'],
  [
    ['verify', '--to', 'sqlite:/nowhere/copy.db'],
    "Cannot use sqlite:/nowhere/copy.db: it must be a file that 'subreport sync' has made",
  ],
] as const)('%j is a sentence with exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.slice(0, message.length)).toBe(message);
  expect(stderr).not.toContain('hidden');
});

test('a database that does not exist is named without the password, with exit code 2', async () => {
  const url = Object.assign(new URL(database), { pathname: '/missing', password: 'hidden' }).href;
  const { code, stderr } = await run('--to', url);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^Cannot use postgres:.*\/missing: it must accept the copy/),
  ]);
  expect(stderr).not.toContain('hidden');
});

test('a record that a constraint of the database refuses is named at once, with exit code 2', async () => {
  const copy = { ...copies.postgres(), table: `constrained_${count}` };
  const args = ['--to', copy.to, '--table', copy.table];
  await run(...args);
  await copy.query(`alter table ${copy.table} add constraint known check (id <> 'refused')`);
  await report.load([subscriptionRow({ id: 'refused' })]);
  const { code, stderr } = await run(...args);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^Cannot use postgres:.* violates check constraint "known"/),
  ]);
});

test('a profile that does not exist, or a wrong secret, leaves no file behind', async () => {
  const file = join(folder, 'never.db');
  const { code, stderr } = await runHere(['sync', '--profile', 'missing', '--to', `sqlite:${file}`], {
    XDG_CONFIG_HOME: folder,
  });
  expect(code).toBe(2);
  const environment = environmentOf(service, { ...report.credentials, client_secret: 'wrong' });
  expect((await runHere(['sync', '--to', `sqlite:${file}`], environment)).code).toBe(1);
  expect(stderr).toMatch(/^Cannot find profile 'missing': run 'subreport login --profile missing' first/);
  expect(existsSync(file)).toBe(false);
});

test('every command exits with 75 after a temporary failure', async () => {
  const proxy = await startLossyProxy(service.url);
  onTestFinished(() => proxy.close());
  const copy = `sqlite:${join(folder, `away-${count}.db`)}`;
  const environment = environmentThrough(proxy.url, service, report.credentials, folder);
  expect((await runHere(['sync', '--to', copy], environment)).code).toBe(0);
  proxy.lose(1_000, 0);
  for (const command of ['run', 'status', 'verify']) {
    const { code, stdout, stderr } = await runHere(['sync', command, '--to', copy], environment);
    expect([command, code, stdout], stderr).toEqual([command, 75, '']);
    expect(stderr).toMatch(/^Cannot reach http/);
  }
});
