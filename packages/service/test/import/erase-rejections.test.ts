import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { createAuditLog } from '../../audit/audit-log.ts';
import { eraseRejections } from '../../import/erase-rejections.ts';
import { importRecords } from '../../import/import-records.ts';
import { withHistory } from '../../import/with-history.ts';
import { eraseSubscriptions } from '../../operator/erase.ts';
import { checkRecords } from '../../storage/maintenance/check-records.ts';
import { SqliteConnection } from '../../storage/sqlite/connection.ts';
import { directoryStatement, type Row, type Store, type TenantId, type TenantSql } from '../../storage/store.ts';
import { listImportRows, putRejections, readRejections } from '../../storage/tables/import-history.ts';

const ada = {
  id: 'adas-subscription',
  iccid: '8944500199999999901',
  deviceId: 'adas-phone-4711',
  email: 'ada@example.org',
};
const bob = {
  id: 'bobs-subscription',
  iccid: '8944500188888888802',
  deviceId: 'bobs-phone-0815',
  email: 'bob@example.com',
};

const rethrow = (error: unknown): never => {
  throw error;
};

describe.each(drawOne(engines, import.meta.url))('an erasure on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let tenants = 0;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());

  /**
   * A tenant with two people, whose rejected rows quote them; a former version has another device.
   */
  const fill = async (): Promise<TenantId> => {
    tenants += 1;
    const tenant = await addTenant(store, `erasure-${tenants}`, 1_700_000_000);
    await store.loadSubscriptions(tenant, [
      subscriptionRow({ ...ada, deviceId: 'adas-old-phone' }),
      subscriptionRow(bob),
    ]);
    await store.loadSubscriptions(tenant, [subscriptionRow(ada)]);
    const lines = [ada, bob].flatMap(({ id, iccid, deviceId, email }) => {
      const { record, ...row } = subscriptionRow({ id: 'x', iccid: '1', deviceId: 'd', email: null });
      const wrong = (members: object) =>
        JSON.stringify({ ...JSON.parse(record), createdDate: row.createdDate, ...members });
      return [
        wrong({ iccid: `${iccid} ` }),
        wrong({ iccid: Number(iccid.slice(0, 15)), note: iccid }),
        wrong({ email: `<${email.toUpperCase()}>, ${'x'.repeat(400)}` }),
        wrong({ device_id: `${deviceId}\u0007`, owner: id }),
        wrong({ [iccid]: 1, product: { id: 'p', [deviceId]: 1 } }),
        `{"${email}":1,"${email}":1}`,
        JSON.stringify(`a row with ${iccid}`),
        JSON.stringify(`sim=${iccid}&${'x'.repeat(400)}`),
      ];
    });
    lines.push(JSON.stringify({ ...JSON.parse(subscriptionRow({ id: 'y' }).record), iccid: 'adas-old-phone' }));
    const source = async function* () {
      yield Buffer.from(lines.join('\n'));
    };
    const origin = {
      tenant,
      actor: { kind: 'command', user: 'root' },
      via: 'command',
      format: 'ndjson',
      flags: [],
    } as const;
    const options = { format: 'ndjson', dryRun: false, onRejected: () => undefined } as const;
    // earlier imports whose rejected rows quote nobody: more than are read at once
    const nobody = `${JSON.stringify({ line: 1, errors: [{ field: 'iccid', value: '"1"', rule: 'r' }] })}\n`;
    for (let n = 10; n < 35; n += 1) await putRejections(store, tenant, `0000-${n}`, nobody);
    await withHistory(store, origin, rethrow, (follow) => importRecords(store, tenant, source(), follow(options)));
    return tenant;
  };

  const context = () => {
    const now = () => 1_800_000_000;
    const audit = createAuditLog({ store, now, write: () => undefined });
    const actor = { kind: 'command', user: 'root' } as const;
    return { store, now, audit, actor, onUnrecorded: rethrow };
  };
  const rejectionsOf = async (tenant: TenantId): Promise<string> => {
    const [last] = await listImportRows(store, { tenant }, 1);
    return readRejections(store, tenant, last?.id ?? '');
  };

  /** The rows of every table, as text. */
  const readStore = async (tenant: TenantId): Promise<ReadonlyMap<string, string>> => {
    const list =
      store.engine === 'sqlite'
        ? "select m.name as name, (select count(*) from pragma_table_info(m.name) where name = 'tenant_id') as own from sqlite_master as m where m.type = 'table'"
        : `select table_name as name, max(case when column_name = 'tenant_id' then 1 else 0 end) as own
           from information_schema.columns where table_schema = 'public' group by table_name`;
    const all = async (sql: string): Promise<readonly Row[]> =>
      (await store.writeDirectory([directoryStatement(sql as 'select 1')]))[0] ?? [];
    const tables = await all(list);
    expect(tables.length).toBeGreaterThan(15);
    const read = async ({ name, own }: Row) =>
      Number(own) > 0
        ? store.readTenant(tenant, (reader) => reader.all(`select * from ${name} where tenant_id = $1` as TenantSql))
        : all(`select * from ${name}`);
    return new Map(
      await Promise.all(
        tables.map(async (table) => [String(table.name), JSON.stringify(await read(table)).toLowerCase()] as const),
      ),
    );
  };

  /** The file of the embedded store after its log was copied into it; nothing on PostgreSQL. */
  const readFile = (): string => {
    const { DATA_DIR: folder } = opened.environment;
    if (store.engine !== 'sqlite' || folder === undefined) return '';
    const file = join(folder, 'subreport.db');
    const connection = new SqliteConnection(file, 5_000);
    expect(connection.all('pragma wal_checkpoint(truncate)', [])).toMatchObject([{ busy: 0 }]);
    connection.close();
    return readFileSync(file, 'latin1').toLowerCase();
  };

  test.each([
    ['by email', { email: 'Ada@Example.org' }],
    ['by ICCID', { iccid: ada.iccid }],
    ['by id', { ids: [ada.id] }],
  ])('%s leaves no trace of the person in any table, and those of others stay', async (_by, erased) => {
    const tenant = await fill();
    const before = (await rejectionsOf(tenant)).split('\n');
    expect(before.join()).toContain(ada.iccid);
    expect(before.join()).toContain(`"field":"${ada.iccid}"`);
    expect(before.join()).not.toContain(ada.email);
    await eraseSubscriptions(context(), tenant, erased);
    const values = [ada.iccid, ada.email, ada.deviceId, 'adas-old-phone'];
    const found = [...(await readStore(tenant))].flatMap(([table, text]) =>
      values.filter((value) => text.includes(value)).map((value) => `${table}: ${value}`),
    );
    expect(found).toEqual([]);
    expect(values.filter((value) => readFile().includes(value))).toEqual([]);
    const kept = await rejectionsOf(tenant);
    expect(kept.match(/bob/gi)?.length).toBe(before.join().match(/bob/gi)?.length);
    expect(kept).toContain(bob.iccid);
    expect((await store.readTenant(tenant, (reader) => checkRecords(reader))).problems).toEqual([]);
  });

  test.each([
    ['email', { email: 'Carol@example.net' }],
    ['ICCID', { iccid: '8944500177777777703' }],
  ])('by %s leaves no trace of a person whose only rows were rejected', async (_by, erased) => {
    const tenant = await fill();
    const [value = ''] = Object.values(erased);
    const lines = [value, bob.email].map((each) =>
      JSON.stringify({ line: 1, errors: [{ field: 'iccid', value: JSON.stringify(each), rule: 'r' }] }),
    );
    await putRejections(store, tenant, '0000-carol', `${lines.join('\n')}\n`);
    await eraseSubscriptions(context(), tenant, erased);
    expect(await readRejections(store, tenant, '0000-carol')).toBe(`${lines[1]}\n`);
  });

  test('an empty address erases nothing, and an empty value quotes no row', async () => {
    const tenant = await fill();
    const before = await rejectionsOf(tenant);
    expect(before).toContain('"field":""');
    for (const erased of [{ email: ' ' }, { iccid: '' }])
      await expect(eraseSubscriptions(context(), tenant, erased)).rejects.toMatchObject({ code: 'INVALID' });
    await eraseRejections(store, tenant, ['']);
    expect(await rejectionsOf(tenant)).toBe(before);
  });
});
