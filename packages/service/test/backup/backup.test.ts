import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { runCommand, startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { findTenant } from '../../storage/tables/tenant.ts';
import { contentOf, fillTenant, makeDatabase, makeFolder, places, type StorePlace, withStore } from './stores.ts';

const writer = fileURLToPath(new URL('../../../../test/support/crash-writer.ts', import.meta.url));

/** The statements of all tables and indexes of a database file. */
function schemaOf(path: string): readonly unknown[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare('select type, name, sql from sqlite_schema order by type, name').all();
  database.close();
  return rows;
}

describe.each(places)('subreport backup on $engine', ({ makePlace }) => {
  let place: StorePlace;
  let file: string;
  const backup = (...args: string[]) => runHere(['backup', ...args], place.environment);
  /** The store of a restored backup, in a folder of its own. */
  const restored = async (): Promise<StorePlace> => {
    const other = await makeFolder();
    const { code, stderr } = await runHere(['restore', file], other.environment);
    expect([code, stderr]).toEqual([0, '']);
    return other;
  };
  const leftovers = () => readdirSync(place.folder).filter((name) => name !== 'data');

  beforeEach(async () => {
    place = await makePlace();
    file = join(place.folder, 'backup.db');
  });
  afterEach(() => place.remove());

  test('contains every tenant with its records, tombstones and counts, and passes the doctor', async () => {
    await withStore(place, async (store) => {
      await fillTenant(store, 'acme', 1_500);
      await fillTenant(store, 'globex', 10);
      await store.deleteSubscriptions((await findTenant(store, 'acme'))?.tenant as never, ['id3', 'id4']);
    });
    const { code, stdout, stderr } = await backup(file, '--json');
    expect([code, stderr]).toEqual([0, '']);
    const empty = await makeFolder();
    await withStore(empty, async () => undefined);
    expect(schemaOf(file)).toEqual(schemaOf(join(empty.environment.DATA_DIR ?? '', 'subreport.db')));
    await empty.remove();
    const size = statSync(file).size;
    expect(JSON.parse(stdout)).toMatchObject({ file, bytes: size, tenants: 2, records: 1_508 });
    expect([statSync(file).mode & 0o777, leftovers()]).toEqual([0o600, ['backup.db']]);
    const other = await restored();
    for (const name of ['acme', 'globex']) {
      const read = (from: StorePlace) =>
        withStore(from, async (store) => contentOf(store, (await findTenant(store, name))?.tenant as never));
      expect(await read(other)).toEqual(await read(place));
    }
    expect((await runHere(['doctor'], other.environment)).code).toBe(0);
    await other.remove();
  });

  test('contains one snapshot of the store while an import writes, with complete batches only', async () => {
    await withStore(place, (store) => fillTenant(store, 'crash', 3_000));
    const child = spawn(process.execPath, [writer, '10000'], {
      env: { ...process.env, ...place.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let acknowledged = '';
    child.stdout.on('data', (chunk) => {
      acknowledged += chunk;
    });
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    const before = acknowledged.split('\n').length - 1;
    expect(await runCommand(['backup', file], { environment: place.environment })).toMatchObject({
      code: 0,
      stderr: '',
    });
    const after = acknowledged.split('\n').length - 1;
    child.kill('SIGKILL');
    await closed;
    expect(after).toBeGreaterThan(before); // it did write meanwhile
    const other = await restored();
    const batches = await withStore(other, async (store) => {
      const tenant = (await findTenant(store, 'crash'))?.tenant as never;
      return store.readTenant(tenant, (reader) =>
        reader.all(
          'select created_date as batch, count(*) as n from subscription where tenant_id = $1 and created_date >= 10000 group by created_date',
        ),
      );
    });
    expect(batches.length).toBeGreaterThanOrEqual(before);
    expect(batches.every(({ n }) => Number(n) === 10)).toBe(true);
    await other.remove();
  });

  test('killed half-way leaves no file or the previous one under its name, and the next backup cleans up', async () => {
    await withStore(place, (store) => fillTenant(store, 'acme', 4_000));
    await backup(file);
    const older = readFileSync(file);
    for (const [target, args] of [
      [join(place.folder, 'new.db'), []],
      [file, ['--force']],
    ] as const) {
      const command = startCommand(['backup', target, ...args], { environment: place.environment });
      // the file exists for some milliseconds only
      while (!existsSync(`${target}.partial/store/subreport.db`) && command.child.exitCode === null) await sleep(1);
      await sleep(Math.random() * 30);
      command.child.kill('SIGKILL');
      const { code } = await command.ended;
      if (code === null) expect(existsSync(target) ? readFileSync(target).equals(older) : true).toBe(true);
      expect(await backup(target, '--force')).toMatchObject({ code: 0 });
      expect(existsSync(`${target}.partial`)).toBe(false);
    }
  });

  test('never replaces a file without --force, and refuses the data folder', async () => {
    await withStore(place, (store) => fillTenant(store, 'acme', 10));
    writeFileSync(file, 'precious');
    expect(await backup(file)).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') });
    expect(readFileSync(file, 'utf8')).toBe('precious');
    await withStore(place, async () => undefined);
    const inside = join(place.environment.DATA_DIR ?? '', 'backup.db');
    expect(await backup(inside)).toMatchObject({ code: 1 });
    expect(await backup(join(place.folder, 'none', 'backup.db'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in an existing folder (ENOENT)'),
    });
    expect(await backup(file, '--force')).toMatchObject({ code: 0, stderr: '' });
  });
});

test('a backup of a store with wrong counts is refused and writes nothing', async () => {
  const place = await makeFolder();
  await withStore(place, (store) => fillTenant(store, 'acme', 100));
  const database = new DatabaseSync(join(place.environment.DATA_DIR ?? '', 'subreport.db'));
  database.exec('update subscription_span set n = n + 1 where level = 2');
  database.close();
  const file = join(place.folder, 'backup.db');
  const { code, stderr } = await runHere(['backup', file], place.environment);
  expect([code, existsSync(file)]).toEqual([1, false]);
  expect(stderr).toMatch(/^Cannot back up the database: every check .*\nPROBLEM counts of acme/);
  expect(stderr).toContain('subreport doctor --repair');
  await place.remove();
});

test('pg_dump as the table owner fails, and with row-level security enabled reads no rows', async () => {
  const place = await makeDatabase();
  await withStore(place, (store) => fillTenant(store, 'acme', 5));
  const client = await connectPostgres(place.environment.DATABASE_URL);
  // as pg_dump --enable-row-security does
  expect((await client.query('select id from subscription')).rows).toEqual([]);
  await client.query('set row_security = off'); // as pg_dump does by default
  await expect(client.query('select id from subscription')).rejects.toMatchObject({ code: '42501' });
  await client.end();
  await place.remove();
});
