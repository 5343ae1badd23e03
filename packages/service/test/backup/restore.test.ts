import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { urlOf } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { startCommand, untilWritten } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService } from '../../../../test/support/service.ts';
import { freePort } from '../../../../tools/free-port.ts';
import { replaceStore } from '../../storage/backup/sqlite-restore.ts';
import type { TenantId } from '../../storage/store.ts';
import { findTenant, listTenants } from '../../storage/tables/tenant.ts';
import { contentOf, fillTenant, makeDatabase, makeFolder, places, type StorePlace, withStore } from './stores.ts';

const restore = (place: StorePlace, ...args: string[]) => runHere(['restore', ...args], place.environment);

/** Creates a backup of a store with one tenant of `count` records. */
async function backUp(place: StorePlace, count: number): Promise<string> {
  const file = join(place.folder, 'backup.db');
  await withStore(place, (store) => fillTenant(store, 'acme', count));
  expect(await runHere(['backup', file], place.environment)).toMatchObject({ code: 0 });
  return file;
}

const tenantOf = (place: StorePlace) =>
  withStore(place, async (store) => (await findTenant(store, 'acme'))?.tenant as TenantId);

const countOf = (place: StorePlace) =>
  withStore(place, async (store) => {
    const [{ tenant } = { tenant: undefined }] = await listTenants(store);
    if (tenant === undefined) return 0;
    const [row] = await store.readTenant(tenant, (reader) =>
      reader.all('select count(*) as n from subscription where tenant_id = $1'),
    );
    return Number(row?.n);
  });

/** Where the backup of a store can be restored: the embedded store itself, or another database. */
const targetOf = (place: StorePlace): Promise<StorePlace> =>
  place.environment.DATABASE_URL === undefined ? Promise.resolve(place) : makeDatabase();

describe.each(places)('subreport restore on $engine', ({ makePlace }) => {
  let place: StorePlace;
  beforeEach(async () => {
    place = await makePlace();
  });
  afterEach(() => place.remove());

  test('rejects access tokens, ETags, former moments and refresh tokens of the discarded history, although its revisions repeat', async () => {
    const file = await backUp(place, 40);
    const target = await targetOf(place);
    const serve = async (from: StorePlace) => {
      const store = from.open();
      await store.migrate();
      const close = () => store.close();
      return startService({ store, environment: from.environment, openAgain: from.open, close });
    };
    const change = (tenant: TenantId, deviceId: string) =>
      [subscriptionRow({ id: 'id1', createdDate: 1, deviceId }), tenant] as const;
    const before = await serve(place);
    const tenant = await tenantOf(place);
    const client = await before.createClient(tenant);
    const token = await before.accessToken(client);
    const read = async (path: string, headers = {}) =>
      before.get(path, token, { 'accept-encoding': 'identity', ...headers });
    const tokens = [((await (await read('/v1/subscription/changes?size=1000')).json()) as { next: string }).next];
    await before.store.loadSubscriptions(tenant, [change(tenant, 'lost')[0]]);
    await eventually(async () => expect(await (await read('/v1/subscription?size=1000')).text()).toContain('lost'));
    for (const size of [3, 1_000]) {
      const page = (await (await read(`/v1/subscription/changes?size=${size}`)).json()) as { next: string };
      tokens.push(page.next);
    }
    const tag = (await read('/v1/subscription?size=1000')).headers.get('etag') ?? '';
    const cursor = (await read('/v1/subscription?size=5')).headers.get('x-next-page') ?? '';
    expect((await read('/v1/subscription/summary?as-of=1')).status).toBe(200);
    await before.close();

    expect(await restore(target, file, '--yes')).toMatchObject({ code: 0, stderr: '' });
    const after = await serve(target);
    // as many commits as the discarded history had
    await after.store.loadSubscriptions(tenant, [change(tenant, 'found')[0]]);
    const again = await after.accessToken(await after.createClient(tenant));
    const get = (path: string, headers = {}) => after.get(path, again, { 'accept-encoding': 'identity', ...headers });
    for (const since of tokens)
      await expectProblem(await get(`/v1/subscription/changes?since=${since}`), 'RESYNC_REQUIRED');
    await expectProblem(await get('/v1/subscription/summary?as-of=1'), 'HISTORY_NOT_KEPT');
    const page = await get('/v1/subscription?size=1000', { 'if-none-match': tag });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('found')]);
    expect((await get(`/v1/subscription${new URL(cursor).search}`)).status).toBe(200);
    let since: string | undefined;
    for (let more = true; more; ) {
      const query: string = since === undefined ? '' : `&since=${since}`;
      const response = await get(`/v1/subscription/changes?size=9${query}`);
      ({ next: since, has_more: more } = (await response.json()) as { next: string; has_more: boolean });
    }
    await after.close();
    if (target !== place) await target.remove();
  });

  test('revokes refresh tokens that were issued before the backup', async () => {
    await withStore(place, (store) => fillTenant(store, 'acme', 1));
    const { stdout } = await runHere(['client', 'create', '--tenant', 'acme', '--json'], place.environment);
    const client = JSON.parse(stdout) as { client_id: string; client_secret: string };
    const open = async (from: StorePlace) => {
      const store = from.open();
      return startService({ store, environment: from.environment, openAgain: from.open, close: () => store.close() });
    };
    const before = await open(place);
    const issued = await before.postToken({ grant_type: 'client_credentials', ...client });
    const { refresh_token } = (await issued.json()) as { refresh_token: string };
    const file = join(place.folder, 'backup.db');
    // from a running service
    await runHere(['backup', file], place.environment);
    await before.close();
    const target = await targetOf(place);
    expect(await restore(target, file, '--yes')).toMatchObject({ code: 0, stderr: '' });
    const after = await open(target);
    const refreshed = await after.postToken({ grant_type: 'refresh_token', refresh_token, ...client });
    expect([refreshed.status, await refreshed.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'invalid_grant' }),
    ]);
    expect((await after.postToken({ grant_type: 'client_credentials', ...client })).status).toBe(200);
    await after.close();
    if (target !== place) await target.remove();
  });

  test('is refused while a service runs, and works after the service was killed', async () => {
    const file = await backUp(place, 20);
    const target = await targetOf(place);
    const environment = { ...target.environment, PORT: String(await freePort()) };
    const service = startCommand(['serve'], { environment });
    await untilWritten(service, '"serving"');
    const { code, stderr } = await restore(target, file, '--yes');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Cannot restore.*(stop the service|empty database)/)]);
    service.child.kill('SIGKILL');
    await service.ended;
    // PostgreSQL notices a dead session only after a while.
    await eventually(async () => expect(await restore(target, file, '--yes')).toMatchObject({ code: 0 }));
    expect(await countOf(target)).toBe(20);
    if (target !== place) await target.remove();
  });

  test('killed half-way leaves the old or the new store complete, and a second attempt succeeds', async () => {
    const source = await makePlace();
    const file = await backUp(source, 3_000);
    if (place.environment.DATABASE_URL === undefined) await withStore(place, (store) => fillTenant(store, 'acme', 5));
    const before = await countOf(place);
    const staged = join(place.environment.DATA_DIR ?? '', 'restoring', 'store', 'subreport.db');
    for (let kill = 0; kill < 3; kill += 1) {
      const command = startCommand(['restore', file, '--yes'], { environment: place.environment });
      let ended = false;
      void command.ended.then(() => {
        ended = true;
      });
      while (!existsSync(staged) && !ended) await sleep(1);
      await sleep(Math.random() * 400);
      command.child.kill('SIGKILL');
      await command.ended;
      expect((await runHere(['doctor'], place.environment)).code).toBe(0);
      const count = await countOf(place);
      expect([before, 3_000]).toContain(count);
      if (count === 3_000) break;
    }
    if ((await countOf(place)) !== 3_000)
      await eventually(async () => expect(await restore(place, file, '--yes')).toMatchObject({ code: 0 }));
    expect(await countOf(place)).toBe(3_000);
    await source.remove();
  });

  test('--new-history invalidates the tokens of a store that was restored by other means', async () => {
    await withStore(place, (store) => fillTenant(store, 'acme', 3));
    const swept = () =>
      withStore(place, async (store) => {
        const rows = await store.readDirectory('select revision, swept_revision from tenant');
        return rows.map(({ revision, swept_revision }) => [Number(revision), Number(swept_revision)] as const);
      });
    expect(await swept()).toEqual([[1, 0]]);
    expect(await restore(place, '--new-history')).toMatchObject({ code: 0, stderr: '' });
    const [[revision, sweptRevision] = [0, 0]] = await swept();
    expect(sweptRevision).toBe(revision);
    expect(revision).toBeGreaterThan(2 ** 50);
    expect((await restore(place)).code).toBe(2);
  });
});

describe('subreport restore', () => {
  test.each([
    ['SQLite to PostgreSQL', makeFolder, makeDatabase],
    ['PostgreSQL to SQLite', makeDatabase, makeFolder],
    ['PostgreSQL to PostgreSQL', makeDatabase, makeDatabase],
  ])('copies a store from %s with every row', async (_title, makeSource, makeTarget) => {
    const [source, target] = [await makeSource(), await makeTarget()];
    const file = await backUp(source, 1_200);
    expect(await restore(target, file)).toMatchObject({ code: 0, stderr: '' });
    const tenant = await tenantOf(source);
    const content = (from: StorePlace) => withStore(from, (store) => contentOf(store, tenant));
    expect(await content(target)).toEqual(await content(source));
    expect((await runHere(['doctor'], target.environment)).code).toBe(0);
    for (const place of [source, target]) await place.remove();
  });

  test('needs --yes to replace an embedded store, and keeps the replaced one', async () => {
    const place = await makeFolder();
    const file = await backUp(place, 10);
    expect(await restore(place, file)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const { stdout } = await restore(place, file, '--yes', '--json');
    const { replaced, ...result } = JSON.parse(stdout) as { replaced: string };
    expect(result).toEqual({ file, tenants: 1, records: 10 });
    rmSync(file);
    expect(await restore(place, replaced, '--yes')).toMatchObject({ code: 0, stderr: '' });
    await place.remove();
  });

  test('of a damaged, truncated or foreign file changes nothing and says what to do', async () => {
    const place = await makeFolder();
    const file = await backUp(place, 2_000);
    const whole = readFileSync(file);
    const flipped = Buffer.from(whole);
    for (let page = 100; page < 120; page += 1) flipped.fill(0x5a, page * 4_096 + 200, page * 4_096 + 400);
    for (const bytes of [
      flipped,
      whole.subarray(0, whole.length / 2),
      Buffer.from('no database at all'),
      Buffer.alloc(0),
    ]) {
      writeFileSync(file, bytes);
      const { code, stderr } = await restore(place, file, '--yes');
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^Cannot restore/)]);
      expect(stderr).toContain('restore another backup');
    }
    expect(await restore(place, join(place.folder, 'none.db'), '--yes')).toMatchObject({ code: 2 });
    expect(readdirSync(place.environment.DATA_DIR ?? '').filter((name) => /replaced|restoring$/.test(name))).toEqual(
      [],
    );
    expect(await countOf(place)).toBe(2_000);
    await place.remove();
  });

  test.each([
    ['trigger', 'create trigger foreign_one after update on tenant begin delete from subscription; end'],
    [
      'trigger',
      'drop trigger audit_entry_keep; create trigger audit_entry_keep before update on audit_entry begin delete from subscription; end',
    ],
    ['view', 'create view foreign_one as select * from subscription'],
    ['table', 'create table foreign_one (id text)'],
    ['index', 'create index foreign_one on tenant (deleted_at)'],
  ])('refuses a backup to which a %s was added', async (type, sql) => {
    const place = await makeFolder();
    const file = await backUp(place, 10);
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    const { code, stderr } = await restore(place, file, '--yes');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`it contains the ${type} '(foreign_one|audit_entry_keep)'`)),
    ]);
    expect(await countOf(place)).toBe(10);
    await place.remove();
  });

  test('leaves no side file of a replaced database, and a file that only its owner can read', async () => {
    const place = await makeFolder();
    const file = await backUp(place, 10);
    chmodSync(file, 0o644);
    expect(await restore(place, file, '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(join(place.environment.DATA_DIR ?? '', 'subreport.db')).mode & 0o777).toBe(0o600);
    // side files stay beside a database that is too damaged to be settled
    for (const name of ['old', 'old-wal', 'old-shm', 'new']) writeFileSync(join(place.folder, name), name);
    replaceStore(join(place.folder, 'old'), join(place.folder, 'new'), join(place.folder, 'aside'));
    const kept = ['old', 'aside', 'aside-wal', 'aside-shm'].map((name) =>
      readFileSync(join(place.folder, name), 'utf8'),
    );
    expect(kept).toEqual(['new', 'old', 'old-wal', 'old-shm']);
    expect(existsSync(join(place.folder, 'old-wal')) || existsSync(join(place.folder, 'old-shm'))).toBe(false);
    await place.remove();
  });

  test('begins its history above that of a replaced database whose clock was ahead', async () => {
    const place = await makeFolder();
    const file = await backUp(place, 10);
    const revisionOf = () =>
      withStore(place, async (store) =>
        Number((await store.readDirectory('select revision from tenant'))[0]?.revision),
      );
    const ahead = 2 ** 52;
    const database = new DatabaseSync(join(place.environment.DATA_DIR ?? '', 'subreport.db'));
    database.exec(`update tenant set revision = ${ahead}`);
    database.close();
    expect(await restore(place, file, '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(await revisionOf()).toBeGreaterThan(ahead);
    await place.remove();
  });

  test('leaves no statistics of records in PostgreSQL once it is analyzed', async () => {
    const [source, target] = [await makeDatabase(), await makeDatabase()];
    expect(await restore(target, await backUp(source, 10))).toMatchObject({ code: 0 });
    const { DATABASE_URL: url = '' } = target.environment;
    // row-level security hides statistics from their owner
    const client = await connectPostgres(urlOf(url, new URL(url).pathname.slice(1), 'postgres'));
    await client.query('analyze');
    expect((await client.query("select attname from pg_stats where tablename like 'subscription%'")).rows).toEqual([]);
    await client.end();
    for (const place of [source, target]) await place.remove();
  });

  test('never replaces tenants of a PostgreSQL database, even with --yes', async () => {
    const place = await makeDatabase();
    const file = await backUp(place, 10);
    const { code, stderr } = await restore(place, file, '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining("it contains at least the tenant 'acme'")]);
    await place.remove();
  });
});
