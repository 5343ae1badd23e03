import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, openPostgres, openSqlite, type TestStore } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { removeRecords } from '../../../../test/support/remove-records.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService } from '../../../../test/support/service.ts';
import { examineStore } from '../../cli/store/examine-store.ts';
import type { TenantId } from '../../storage/store.ts';
import { historyStart, readHistory } from '../../storage/tables/history.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

interface Report {
  readonly ok: boolean;
  readonly checks: readonly { check: string; ok: boolean; message: string; tenant?: string; repaired?: boolean }[];
}

/** When the tests repair, in UTC epoch seconds. */
const repairedAt = 1_800_000_000;

/** Runs a statement directly, without the store, as nobody should. */
async function tamper({ environment }: TestStore, sql: string): Promise<void> {
  if (environment.DATABASE_URL === undefined) {
    const database = new DatabaseSync(join(environment.DATA_DIR ?? '', 'subreport.db'));
    database.exec(sql);
    database.close();
    return;
  }
  const client = await connectPostgres(environment.DATABASE_URL);
  await client.query("set app.tenant = 'acme'");
  await client.query(sql);
  await client.end();
}

describe.each(drawn)('doctor on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  const doctor = async (...args: string[]): Promise<[number | null, Report]> => {
    const { code, stdout, stderr } = await runHere(['doctor', '--json', ...args], opened.environment);
    expect(stderr).toBe('');
    return [code, JSON.parse(stdout)];
  };
  /** The doctor's results for the records of acme and globex. */
  const recordChecks = async (repair: boolean) =>
    (await examineStore(opened.store, repair ? { repairAt: repairedAt } : {})).filter(
      ({ check }) => check === 'records',
    );
  const countsOf = ({ checks }: Report, tenant: string) => checks.find((check) => check.tenant === tenant);

  beforeAll(async () => {
    opened = await openTestStore();
    for (const name of ['acme', 'globex']) {
      const tenant = await addTenant(opened.store, name);
      const rows = Array.from({ length: 2_000 }, (_, index) =>
        subscriptionRow({ id: `id${index}`, createdDate: index }),
      );
      await opened.store.loadSubscriptions(tenant, rows);
    }
  });
  afterAll(() => opened.close());

  test('finds no problem in a healthy store', async () => {
    const [code, report] = await doctor();
    expect([code, report.ok]).toEqual([0, true]);
    const names = {
      sqlite: ['schema', 'integrity'],
      postgres: ['schema', 'row-level security', 'role', 'options'],
    }[engine];
    expect(report.checks.map(({ check }) => check)).toEqual([
      ...names,
      ...['counts', 'records'],
      ...['counts', 'records'],
    ]);
    expect(countsOf(report, 'acme')?.message).toBe('2000 records, all counts exact');
  });

  test.each([
    [
      'a wrong count',
      "update subscription_span set n = n + 1 where tenant_id = 'acme' and level = 0 and from_date > 0",
    ],
    [
      'a wrong status',
      `update subscription_span set counts = '{"EXPIRED":2000}' where tenant_id = 'acme' and level = 2`,
    ],
    ['damaged sums', "update subscription_span set counts = 'null' where tenant_id = 'acme' and level > 0"],
    ['a missing span', "delete from subscription_span where tenant_id = 'acme' and level = 0 and from_date > 700"],
    ['no counts by expirationDate', "delete from subscription_span where tenant_id = 'acme' and series = 'expiration'"],
    ['no counts at all', "delete from subscription_span where tenant_id = 'acme'"],
    ['a record that was removed past the store', "delete from subscription where tenant_id = 'acme' and id = 'id77'"],
    [
      'a series of a product without records',
      "insert into subscription_span values ('acme', 'product=none', 2, -9007199254740991, '', 3, '{}')",
    ],
  ])('finds %s, in that tenant only, and repairs it', async (_what, sql) => {
    await tamper(opened, sql);
    const [code, report] = await doctor();
    expect([code, report.ok]).toEqual([1, false]);
    expect(countsOf(report, 'acme')).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^Cannot rely on the counts: .*subreport doctor --repair$/),
    });
    expect(countsOf(report, 'globex')?.ok).toBe(true);
    const [repairCode, repaired] = await doctor('--repair');
    expect([repairCode, repaired.ok]).toEqual([0, true]);
    expect(countsOf(repaired, 'acme')).toMatchObject({ ok: true, repaired: true });
    expect(countsOf(repaired, 'globex')).not.toHaveProperty('repaired');
    expect((await doctor())[0]).toBe(0);
  });

  test.each([
    [
      'a record that differs from its columns',
      "update subscription set iccid = '89999', status = null where tenant_id = 'acme' and id = 'id5'",
      "'id5' differs from its columns in status, iccid",
    ],
    [
      'a flipped letter in the JSON of a record',
      `update subscription set record = replace(record, '"iccid":"8944', '"iccid":"8945') where tenant_id = 'acme' and id = 'id6'`,
      "'id6' differs from its columns in iccid",
    ],
    [
      'a tombstone of a stored record',
      "insert into subscription_tombstone (tenant_id, id, revision) values ('acme', 'id7', 1)",
      "'id7' has a tombstone",
    ],
    [
      'a record with a future revision',
      "update subscription set revision = (select revision + 9 from tenant where id = 'acme') where tenant_id = 'acme' and id = 'id8'",
      "Record 'id8' is of revision",
    ],
    [
      'a tombstone with a future revision',
      "insert into subscription_tombstone (tenant_id, id, revision) select id, 'gone', revision + 9 from tenant where id = 'acme'",
      "Tombstone 'gone' is of revision",
    ],
    [
      'tombstones swept up to a future revision',
      "update tenant set swept_revision = revision + 9 where id = 'acme'",
      'Tombstones are swept up to',
    ],
  ])('finds %s, and repairs it (T9)', async (what, sql, message) => {
    const tenant = (await findTenant(opened.store, 'acme'))?.tenant as TenantId;
    const before = await opened.store.readTenant(tenant, readHistory);
    await tamper(opened, sql);
    const found = await recordChecks(false);
    expect(found.map(({ ok }) => ok)).toEqual([false, true]);
    expect(found[0]?.message).toContain(message);
    expect(await recordChecks(true)).toMatchObject([{ ok: true, repaired: true }, { ok: true }]);
    expect((await examineStore(opened.store)).filter(({ ok }) => !ok)).toEqual([]);
    const after = await opened.store.readTenant(tenant, readHistory);
    if (/future revision|tombstone/.test(what)) {
      expect(after.revision).toBeGreaterThan(Math.max(historyStart(repairedAt), before.revision));
      // clients that read changes read everything again
      expect(after.sweptRevision).toBe(after.revision);
    } else {
      // clients that read changes receive the repaired records
      expect([after.revision, after.sweptRevision]).toEqual([before.revision + 1, before.sweptRevision]);
    }
  });

  test.each([
    [
      'a former version that differs from its columns',
      "update subscription_version set iccid = '89999' where tenant_id = 'acme' and id = 'seen'",
      "A former version of record 'seen' differs from its columns in iccid",
    ],
    [
      'a removed record without a tombstone',
      "delete from subscription_tombstone where tenant_id = 'acme' and id = 'gone'",
      "Record 'gone' was removed at revision",
    ],
    [
      'a former version with damaged JSON',
      "update subscription_version set record = '{\"id\":' where tenant_id = 'acme' and id = 'seen'",
      "The text of a former version of record 'seen' is no whole record",
    ],
    [
      'a former version of another record',
      `update subscription_version set record = replace(record, '"id":"seen"', '"id":"other"') where tenant_id = 'acme'`,
      "A former version of record 'seen' differs from its columns in id",
    ],
    [
      'a history that ends after the last revision',
      "update tenant set history_revision = revision + 1 where id = 'acme'",
      'The history ends after the last revision',
    ],
    [
      'an erasure that cannot be',
      "insert into subscription_erasure select id, 'x', revision, revision from tenant where id = 'acme'",
      'The history has an erasure that cannot be',
    ],
    [
      'a revision without its time',
      "delete from subscription_commit where tenant_id = 'acme' and revision = (select revision - 1 from tenant where id = 'acme')",
      'Revisions of the history that have a time: ',
    ],
    [
      'a history without times',
      "delete from subscription_commit where tenant_id = 'acme'",
      'Revisions of the history that have a time: 0, there must be ',
    ],
    [
      'a revision that is older than the one before it',
      "update subscription_commit set committed_at = committed_at - 100 where tenant_id = 'acme' and revision = (select revision from tenant where id = 'acme')",
      'Times of revisions that are before an earlier one, or after the last: 1',
    ],
    [
      'a revision that is younger than the history',
      "update subscription_commit set committed_at = committed_at + 1 where tenant_id = 'acme' and revision = (select revision from tenant where id = 'acme')",
      'Times of revisions that are before an earlier one, or after the last: 1',
    ],
  ])('finds %s, and a repair begins a new history', async (_what, sql, message) => {
    const tenant = (await findTenant(opened.store, 'acme'))?.tenant as TenantId;
    await opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'erased', createdDate: 1 })]);
    await opened.store.deleteSubscriptions(tenant, ['erased']);
    const seen = (deviceId: string) => subscriptionRow({ id: 'seen', createdDate: 1, deviceId });
    for (const row of [seen('former'), seen('other'), subscriptionRow({ id: 'gone', createdDate: 1 })])
      await opened.store.loadSubscriptions(tenant, [row]);
    await removeRecords(opened.store, tenant, ['gone']);
    const before = await opened.store.readTenant(tenant, readHistory);
    expect((await examineStore(opened.store)).filter(({ ok }) => !ok)).toEqual([]);
    await tamper(opened, sql);
    const found = await recordChecks(false);
    expect(found.map(({ ok }) => ok)).toEqual([false, true]);
    expect(found[0]?.message).toContain(message);
    expect(await recordChecks(true)).toMatchObject([{ ok: true, repaired: true }, { ok: true }]);
    const after = await opened.store.readTenant(tenant, readHistory);
    expect(after.revision).toBeGreaterThan(before.revision);
    expect(after.kept?.from).toBe(after.revision);
    // clients that read changes begin again if one was lost
    expect(after.sweptRevision === after.revision).toBe(message.includes("'gone'"));
  });

  test('a repair of lost revisions begins above them, also where the clock is behind', async () => {
    const tenant = (await findTenant(opened.store, 'acme'))?.tenant as TenantId;
    await tamper(opened, "update tenant set swept_revision = revision + 9 where id = 'acme'");
    const { sweptRevision } = await opened.store.readTenant(tenant, readHistory);
    expect((await examineStore(opened.store, { repairAt: 0 })).filter(({ ok }) => !ok)).toEqual([]);
    expect((await opened.store.readTenant(tenant, readHistory)).revision).toBe(sweptRevision + 1);
  });

  test('records are loaded, removed and replaced while revisions are lost, and kept versions stay', async () => {
    const own = await openTestStore();
    onTestFinished(() => own.close());
    const { store } = own;
    const tenant = await addTenant(store, 'acme');
    const rows = (deviceId: string) =>
      ['kept', 'lost'].map((id) => subscriptionRow({ id: `${id}-1`, createdDate: 3, deviceId }));
    const load = async (...deviceIds: string[]) => {
      for (const deviceId of deviceIds) await store.loadSubscriptions(tenant, rows(deviceId));
    };
    const loseRevision = () => tamper(own, "update tenant set revision = revision - 1 where id = 'acme'");
    await load('a', 'b', 'c');
    await loseRevision();
    await loseRevision();
    await load('d', 'e'); // as the revisions of b and c
    const sql =
      "select from_revision, until_revision, device_id from subscription_version where tenant_id = $1 and id = 'kept-1' order by 2";
    expect((await store.readTenant(tenant, (reader) => reader.all(sql))).map(Object.values)).toEqual([
      [1, 2, 'a'],
      [2, 3, 'b'],
    ]);
    await loseRevision();
    const removal = removeRecords(store, tenant, ['lost-1']);
    expect(await removal).toMatchObject({ removed: 1 });
    await load('f');
    await loseRevision();
    const replacement = await store.openStagedLoad(tenant);
    await replacement.add(rows('g'));
    expect(await replacement.finish(false)).toMatchObject({ updated: 2 });
    await replacement.close();
    expect((await examineStore(store, { repairAt: repairedAt })).filter(({ ok }) => !ok)).toEqual([]);
  });

  test('a repair of lost revisions rejects their change tokens, and none of their ETags matches', async () => {
    const own = await openTestStore();
    const service = await startService(own);
    onTestFinished(() => service.close());
    const tenant = await service.createTenant('acme');
    const token = await service.accessToken(await service.createClient(tenant));
    const read = (path: string, headers = {}) =>
      service.get(`/v1/subscription${path}`, token, { 'accept-encoding': 'identity', ...headers });
    const record = { id: 'id1', createdDate: 1 };
    for (const deviceId of ['old', 'lost'])
      await service.store.loadSubscriptions(tenant, [subscriptionRow({ ...record, deviceId })]);
    const { next } = (await (await read('/changes?size=1000')).json()) as { next: string };
    const tag = (await read('')).headers.get('etag') ?? '';
    await tamper(own, "update tenant set revision = revision - 1 where id = 'acme'");
    const sql = "set record = replace(record, '\"lost\"', '\"other\"'), device_id = 'other' where tenant_id = 'acme'";
    await tamper(own, `update subscription ${sql}`);
    expect((await examineStore(service.store, { repairAt: repairedAt })).filter(({ ok }) => !ok)).toEqual([]);
    await expectProblem(await read(`/changes?since=${next}`), 'RESYNC_REQUIRED');
    const page = await read('', { 'if-none-match': tag });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('other')]);
    // a client that begins again follows the new history
    const { next: following } = (await (await read('/changes?size=1000')).json()) as { next: string };
    await service.store.loadSubscriptions(tenant, [subscriptionRow({ ...record, deviceId: 'newer' })]);
    const changes = await read(`/changes?since=${following}`);
    expect([changes.status, await changes.text()]).toEqual([200, expect.stringContaining('newer')]);
  });

  test('says that incomplete records must be imported again (T9)', async () => {
    await tamper(opened, "update subscription set record = '{\"id\":' where tenant_id = 'acme' and id = 'id5'");
    const problem = (await recordChecks(true)).find(({ ok }) => !ok);
    expect(problem).toMatchObject({ tenant: 'acme', repaired: false });
    expect(problem?.message).toMatch(/text of record 'id5' is no whole record.*import the records again/);
    const tenant = (await findTenant(opened.store, 'acme'))?.tenant as TenantId;
    await opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'id5', createdDate: 5 })]);
    // the history has the damaged text, too
    expect(await recordChecks(true)).toMatchObject([{ ok: true, repaired: true }, { ok: true }]);
  });

  test('finds indexes and triggers that were dropped or disabled', async () => {
    const own = await openTestStore();
    onTestFinished(() => own.close());
    const [drop, disable] = {
      sqlite: ['drop trigger audit_entry_keep', 'drop trigger audit_entry_keep_young'],
      postgres: [
        'drop trigger audit_entry_keep on audit_entry',
        'alter table audit_entry disable trigger audit_entry_in_order',
      ],
    }[engine];
    for (const sql of ['drop index subscription_iccid', drop, disable]) await tamper(own, sql ?? '');
    const missing = {
      sqlite: 'audit_entry_keep, audit_entry_keep_young',
      postgres: 'audit_entry_in_order, audit_entry_keep',
    };
    expect((await examineStore(own.store)).filter(({ ok }) => !ok)).toMatchObject([
      { check: 'objects', message: expect.stringContaining(`missing are ${missing[engine]}, subscription_iccid;`) },
    ]);
  });

  test('prints its results for people too', async () => {
    const { code, stdout } = await runHere(['doctor'], opened.environment);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {5} schema: .*\n/);
    expect(stdout).toContain('counts of globex: 2000 records, all counts exact\n');
  });
});

test('doctor does not migrate: an empty store has a schema problem, and no counts to check', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-doctor-'));
  writeFileSync(join(folder, 'subreport.db'), '');
  const { code, stdout } = await runHere(['doctor', '--json'], { DATA_DIR: folder });
  const report: Report = JSON.parse(stdout);
  expect(code).toBe(1);
  expect(report.checks.map(({ check, ok }) => [check, ok])).toEqual([
    ['schema', false],
    ['integrity', true],
  ]);
  expect(report.checks[0]?.message).toContain('subreport migrate');
  rmSync(folder, { recursive: true });
});

test.each([
  ['counts that are no JSON', `update subscription_span set counts = '{"ACTIVE"' where level = 0`, 0],
  ['a span that begins at no date', 'update subscription_span set from_date = -9007199254740993 where level = 2', 0],
  ['a record of a date that is too large', 'update subscription set created_date = 9007199254740993', 1],
])('doctor finds %s, where the file is whole otherwise', async (_what, sql, codeOfRepair) => {
  const own = await openSqlite();
  onTestFinished(() => own.close());
  const tenant = await addTenant(own.store, 'acme');
  await own.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'id1', createdDate: 1 })]);
  await tamper(own, sql);
  for (const [args, code] of [
    [[], 1],
    [['--repair'], codeOfRepair],
    [[], codeOfRepair],
  ] as const) {
    const result = await runHere(['doctor', ...args], own.environment);
    expect([result.code, result.stderr]).toEqual([code, '']);
    if (code === 1) expect(result.stdout).toMatch(/^PROBLEM (counts|records) of acme: Cannot rely on /m);
  }
});

test('doctor finds no problem in a tenant whose deletion begins after the tenants were listed', async () => {
  const own = await openSqlite();
  onTestFinished(() => own.close());
  const tenant = await addTenant(own.store, 'acme');
  await own.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'id1', createdDate: 1 })]);
  // the embedded store executes it before the check of the tenant begins
  const beginDeletion = () =>
    void tamper(own, 'update tenant set deletion_started_at = 1; delete from subscription_span');
  for (const repairAt of [undefined, repairedAt]) {
    await tamper(own, 'update tenant set deletion_started_at = null');
    const checks = await examineStore(own.store, { repairAt, onProgress: beginDeletion });
    expect(checks.filter(({ tenant: of, ok }) => of !== undefined || !ok)).toEqual([]);
  }
});

test('doctor finds a damaged embedded file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-doctor-'));
  const environment = { DATA_DIR: folder };
  await runHere(['tenant', 'create', 'acme'], environment);
  await runHere(['generate', '--tenant', 'acme', '--subscriptions', '2000'], environment);
  const file = join(folder, 'subreport.db');
  const bytes = readFileSync(file);
  // pages of records: the schema takes the first ones
  for (let page = 140; page < 160; page += 1) bytes.fill(0x5a, page * 4_096 + 200, page * 4_096 + 400);
  writeFileSync(file, bytes);
  const { code, stdout } = await runHere(['doctor', '--json'], environment);
  const report: Report = JSON.parse(stdout);
  expect(code).toBe(1);
  expect(report.checks.at(-1)).toMatchObject({
    check: 'integrity',
    ok: false,
    message: expect.stringMatching(/^Cannot .*(restore a backup|malformed)/),
  });
  rmSync(folder, { recursive: true });
});

test.each([
  ['an index with an entry too many', [1, 1]],
  ['an index with entries that differ from their rows, only with --full', [0, 1]],
])('doctor finds %s', async (what, codes) => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-doctor-'));
  const environment = { DATA_DIR: folder };
  await runHere(['tenant', 'create', 'acme'], environment);
  await runHere(['generate', '--tenant', 'acme', '--subscriptions', '100'], environment);
  const edit = (sql: string): void => {
    const database = new DatabaseSync(join(folder, 'subreport.db'));
    database.enableDefensive(false);
    database.exec(`pragma writable_schema = on; ${sql}`);
    database.close();
  };
  const name = "where name = 'subscription_device'";
  if (what.endsWith('too many')) {
    edit(`create table kept as select * from sqlite_schema ${name}; delete from sqlite_schema ${name}`);
    edit('delete from subscription where id = (select min(id) from subscription)');
    edit('insert into sqlite_schema select * from kept; drop table kept');
  } else edit(`update sqlite_schema set sql = replace(sql, 'device_id', 'iccid') ${name}`);
  const integrity = async (...args: string[]) => {
    const report: Report = JSON.parse((await runHere(['doctor', '--json', ...args], environment)).stdout);
    return Number(report.checks.find(({ check }) => check === 'integrity')?.ok === false);
  };
  expect([await integrity(), await integrity('--full')]).toEqual(codes);
  rmSync(folder, { recursive: true });
});

test('doctor finds row-level security that was disabled, and a superuser without the role to switch to', async () => {
  const opened = await openPostgres('postgres');
  await opened.store.migrate();
  const checks = async (): Promise<Report['checks']> =>
    JSON.parse((await runHere(['doctor', '--json'], opened.environment)).stdout).checks;
  expect((await checks()).every(({ ok }) => ok)).toBe(true);
  expect((await checks()).find(({ check }) => check === 'role')?.message).toContain('switch to subreport_tenant');
  for (const [sql, back, problem] of [
    [
      'alter table subscription_span no force row level security',
      'alter table subscription_span force row level security',
      'forced on subscription_span; restore it',
    ],
    [
      'create policy anybody on subscription using (true)',
      'drop policy anybody on subscription',
      'another one on subscription; drop',
    ],
    [
      'alter policy subscription_version_tenant on subscription_version using (tenant_id is not null)',
      "alter policy subscription_version_tenant on subscription_version using (tenant_id = nullif(current_setting('app.tenant', true), ''))",
      'another one on subscription_version; drop',
    ],
    ['drop policy import_rejection_tenant on import_rejection', '', 'another one on import_rejection; drop'],
  ] as const) {
    await tamper(opened, sql);
    expect((await checks()).find(({ check }) => check === 'row-level security')).toMatchObject({
      ok: false,
      message: expect.stringContaining(problem),
    });
    await tamper(opened, back);
    expect((await checks()).every(({ ok }) => ok)).toBe(back !== '');
  }
  await opened.close();
});

test('a database that is not in UTF-8 is refused by every command', async () => {
  const opened = await openPostgres('postgres', true);
  const database = `${new URL(opened.environment.DATABASE_URL ?? '').pathname.slice(1)}_latin1`;
  await tamper(opened, `create database ${database} encoding 'LATIN1' locale 'C' template template0`);
  const url = new URL(opened.environment.DATABASE_URL ?? '');
  url.pathname = database;
  const environment = { ...opened.environment, DATABASE_URL: url.href };
  const sentence = 'its encoding must be UTF8: current value is LATIN1; create another one with';
  const refused = await runHere(['tenant', 'create', 'acme'], environment);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(sentence)]);
  await tamper(opened, `drop database ${database} with (force)`);
  await opened.close();
});
