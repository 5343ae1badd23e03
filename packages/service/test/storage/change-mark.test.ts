import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { changeChannel } from '../../storage/postgres/notifications.ts';
import { directoryStatement, type Store } from '../../storage/store.ts';

/** Waits until the mark is known and, if `other` is given, differs from it. */
const markOf = (store: Store, other?: number): Promise<number> =>
  expect
    .poll(() => store.changeMark())
    .toSatisfy((mark: number | undefined) => mark !== undefined && mark !== other)
    .then(() => store.changeMark() ?? 0);

/** Each time another one: SQLite does not write a row that stays as it is. */
const touchAt = (seconds: number) => directoryStatement(`update tenant set created_at = ${seconds} where id = 'acme'`);

describe.each(engines)('the change mark of $engine', ({ engine, openTestStore }) => {
  test('changes after another process announces a change', async () => {
    const opened = await openTestStore();
    const [here, there] = [opened.store, opened.openAgain()];
    await addTenant(here, 'acme');
    here.watch();
    const second = await markOf(here);
    await there.writeDirectory([touchAt(2)], { announce: true });
    const third = await markOf(here, second);
    await there.transact((directory) => directory.writeDirectory([touchAt(3)], { announce: true }));
    await markOf(here, third);
    await opened.close();
  });

  test('changes after the same process announces a change', async () => {
    const opened = await openTestStore();
    await addTenant(opened.store, 'acme');
    opened.store.watch();
    const second = await markOf(opened.store);
    await opened.store.writeDirectory([touchAt(2)], { announce: true });
    const third = opened.store.changeMark();
    await opened.store.transact((directory) => directory.writeDirectory([touchAt(3)], { announce: true }));
    const fourth = opened.store.changeMark();
    // immediately, without waiting for the notification
    expect(new Set([second, third, fourth]).size).toBe(3);
    await opened.close();
  });

  test.runIf(engine === 'postgres')('a load notifies nobody, so that its commit holds no other one', async () => {
    const opened = await openTestStore();
    const tenant = await addTenant(opened.store, 'acme');
    const listening = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    const notified: string[] = [];
    listening.on('notification', ({ channel }) => notified.push(channel));
    await listening.connect();
    await listening.query(`listen ${changeChannel}`);
    await opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
    // notifications sent before the query arrive with its response
    await listening.query('select 1');
    expect(notified).toEqual([]);
    await listening.end();
    await opened.close();
  });

  test('is unknown and ages on PostgreSQL before the store is watched', async () => {
    const opened = await openTestStore();
    expect(opened.store.changeMark()).toBeUndefined();
    expect(opened.store.changeMarkAgeMs() > 0).toBe(engine === 'postgres');
    await opened.close();
  });

  test.runIf(engine === 'postgres')(
    'is unknown from the loss of the listening connection until a new one is established',
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
      expect(opened.store.changeMarkAgeMs()).toBeGreaterThan(0); // goes on from the last heartbeat
      // a new connection has another mark, because changes may have been missed meanwhile
      await markOf(opened.store, first);
      await admin.end();
      await opened.close();
    },
  );
});
