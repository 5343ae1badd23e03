import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { changeChannel } from '../../src/storage/postgres/listener.ts';
import { directoryStatement, type Store, type TenantId } from '../../src/storage/store.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { engines } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';

/** Waits until the mark is known, or is another one than before. */
const markOf = (store: Store, other?: number): Promise<number> =>
  expect
    .poll(() => store.changeMark())
    .toSatisfy((mark: number | undefined) => mark !== undefined && mark !== other)
    .then(() => store.changeMark() ?? 0);

async function makeTenant(store: Store): Promise<TenantId> {
  await insertTenant(store, 'acme', 1);
  const found = await findTenant(store, 'acme');
  if (found === undefined) throw new Error('no tenant');
  return found.tenant;
}

describe.each(engines)('the change mark of $engine', ({ engine, openTestStore }) => {
  test('changes with records that another process loads, and with what it announces', async () => {
    const opened = await openTestStore();
    const [here, there] = [opened.store, opened.openAgain()];
    const tenant = await makeTenant(here);
    here.watch();
    const first = await markOf(here);
    await there.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
    const second = await markOf(here, first);
    const touch = directoryStatement("update tenant set created_at = 2 where id = 'acme'");
    await there.writeDirectory([touch], { announce: true });
    await markOf(here, second);
    await opened.close();
  });

  test('changes with what the same process loads', async () => {
    const opened = await openTestStore();
    const tenant = await makeTenant(opened.store);
    opened.store.watch();
    const first = await markOf(opened.store);
    await opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
    const second = opened.store.changeMark();
    const touch = directoryStatement("update tenant set created_at = 2 where id = 'acme'");
    await opened.store.writeDirectory([touch], { announce: true });
    const third = opened.store.changeMark();
    // at once, not when the notification comes
    expect(new Set([first, second, third]).size).toBe(3);
    await opened.close();
  });

  test.runIf(engine === 'postgres')('a load notifies a listening connection before it returns', async () => {
    const opened = await openTestStore();
    const tenant = await makeTenant(opened.store);
    const listening = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    const notified: string[] = [];
    listening.on('notification', ({ channel }) => notified.push(channel));
    await listening.connect();
    await listening.query(`listen ${changeChannel}`);
    await opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
    await listening.query('select 1'); // what was sent before arrives with the answer
    expect(notified).toEqual([changeChannel]);
    await listening.end();
    await opened.close();
  });

  test('is not known before the store is watched', async () => {
    const opened = await openTestStore();
    expect(opened.store.changeMark()).toBeUndefined();
    await opened.close();
  });

  test.runIf(engine === 'postgres')(
    'is not known once the listening connection is gone, until a new one stands',
    async () => {
      const opened = await openTestStore();
      opened.store.watch();
      const first = await markOf(opened.store);
      const admin = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
      await admin.connect();
      const { rowCount } = await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'subreport-listen' and datname = current_database()",
      );
      expect(rowCount).toBe(1);
      await expect.poll(() => opened.store.changeMark(), { interval: 1 }).toBeUndefined();
      // a new connection has another mark: what changed meanwhile was not heard
      await markOf(opened.store, first);
      await admin.end();
      await opened.close();
    },
  );
});
