import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { readConfig } from '../../cli/config.ts';
import { demoText } from '../../cli/serving/demo.ts';
import { changeRegularly, prepareTenants } from '../../cli/store/demo-data.ts';
import { examineStore } from '../../cli/store/examine-store.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { listImportRows, putImport, readRejections } from '../../storage/tables/import-history.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

describe.each(drawOne(engines, import.meta.url))('the data of the demo on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let tenant: TenantId;
  beforeAll(async () => {
    opened = await openTestStore();
    ({ store } = opened);
    tenant = await prepareTenants(store);
  });
  afterEach(() => void vi.useRealTimers());
  afterAll(() => opened.close());

  const importsOf = (name: string) => listImportRows(store, { tenant: name }, 100);
  const usedUp = async () => {
    const sql = "select count(*) as n from subscription where tenant_id = $1 and status = 'DEPLETED'";
    return Number((await store.readTenantOnce(tenant, { sql, values: [] }))[0]?.n);
  };

  test('has an import for each day of a month, and commits of their times', async () => {
    const imports = await importsOf('demo');
    const days = imports.map(({ startedAt }) => Math.round(((imports[0]?.startedAt ?? 0) - startedAt) / 86_400));
    expect(days).toEqual([...Array(31).keys()]);
    const sql = 'select committed_at as at, import_id from subscription_commit where tenant_id = $1';
    const commits = await store.readTenantOnce(tenant, { sql, values: [] });
    const times = imports.map(({ id, startedAt }) => [id, startedAt]);
    for (const { at, import_id: id } of commits) expect(times).toContainEqual([id, Number(at)]);
    expect((await examineStore(store, { now: nowSeconds })).filter(({ ok }) => !ok)).toEqual([]);
  });

  test('has a tenant whose last import was refused, with the reason of each rejected row', async () => {
    const [failed] = await importsOf('demo-partner');
    expect(failed).toMatchObject({ result: 'failed', counts: { read: 43, rejected: 3, inserted: 0 } });
    const rejected = await readRejections(store, 'demo-partner' as TenantId, failed?.id ?? '');
    for (const field of ['iccid', 'expirationDate', 'auto_renew']) expect(rejected).toContain(`"field":"${field}"`);
  });

  test('changes every half minute until it is stopped, and in one import after days', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const stop = changeRegularly(store, pino({ level: 'silent' }));
    for (let changes = 1; changes <= 4; changes += 1) {
      vi.advanceTimersByTime(30_000);
      await eventually(async () => expect(await importsOf('demo')).toHaveLength(31 + changes));
      await eventually(async () => expect((await importsOf('demo'))[0]).toMatchObject({ result: 'ok' }));
      expect(await usedUp()).toBe(161);
    }
    expect((await importsOf('demo'))[0]?.counts?.updated).toBe(1);
    stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.setSystemTime(Date.now() + 10 * 86_400_000);
    await prepareTenants(store);
    expect(await importsOf('demo')).toHaveLength(36);
    vi.setSystemTime(Date.now() - 5 * 86_400_000); // a clock that was ahead
    await prepareTenants(store);
    expect(await importsOf('demo')).toHaveLength(36);
  });

  test('has no import of the future in an empty tenant that somebody else has created', async () => {
    const other = await openTestStore();
    await insertTenant(other.store, 'demo', nowSeconds());
    await prepareTenants(other.store);
    const imports = await listImportRows(other.store, { tenant: 'demo' }, 100);
    expect(imports.filter(({ startedAt }) => startedAt > nowSeconds())).toEqual([]);
    await other.close();
  });

  test('stays as it is once somebody else has loaded records', async () => {
    const [last] = await importsOf('demo');
    await putImport(store, { ...(last ?? expect.unreachable()), id: 'ffffffff', actorId: 'ada' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 20 * 86_400_000 });
    await prepareTenants(store);
    expect((await importsOf('demo'))[0]).toMatchObject({ id: 'ffffffff' });
  });
});

test('the demo says what to look at in the consoles that it serves', () => {
  const demo = { base_url: '', token_url: '', client_id: '', client_secret: '', tenant: 'demo' };
  const consoles = [{}, { MANAGEMENT_PORT: '0' }, { CONSOLE: 'false' }].map(
    (each) => demoText(demo, readConfig(each)).match(/^ {2}(Overview|Operator console)(?= {3})/gm)?.length,
  );
  expect(consoles).toEqual([2, 1, undefined]);
});
