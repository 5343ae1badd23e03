import { expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { type Directory, directoryStatement } from '../../storage/store.ts';
import { sweepTombstones } from '../../storage/tables/history.ts';
import { readHistoryUse, sweepVersions } from '../../storage/tables/sweep-versions.ts';

const tenants = 10_000;
const daySeconds = 86_400;
const firstDay = 20_000;

const insertTenants = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${tenants})
  insert into tenant (id, created_at, revision, history_from, history_from_at, history_revision, history_at, history_swept)
  select 'tenant-' || n, 1, 5, 5, 1, 5, 1, 5 from numbers` as const;

// PostgreSQL has no main thread to delay, and takes much longer for so many tenants
test.each(engines.filter(({ engine }) => engine === 'sqlite'))(
  'with 10,000 tenants on $engine, a day without changes adds no row, and no statement of a sweep returns more than 1,000 rows',
  async ({ openTestStore }) => {
    const { store, close } = await openTestStore();
    try {
      await store.writeDirectory([directoryStatement(insertTenants)]);
      const returned: number[] = [];
      const watched = new Proxy(store, {
        get(target, name) {
          if (name !== 'readDirectory') return Reflect.get(target, name).bind(target);
          return async (...args: Parameters<Directory['readDirectory']>) => {
            const rows = await target.readDirectory(...args);
            returned.push(rows.length);
            return rows;
          };
        },
      });
      const notes = async (where: 'day > 0' | 'is_swept = 1'): Promise<number> => {
        const [row] = await store.readDirectory(`select count(*) as n from tenant_revision where ${where}` as const);
        return Number(row?.n);
      };
      const sweep = async (day: number): Promise<void> => {
        const nowSeconds = (firstDay + day) * daySeconds;
        await sweepVersions(watched, { nowSeconds, days: 30 });
        await sweepTombstones(watched, { nowSeconds, days: 90 });
      };
      await sweep(0);
      expect(await notes('day > 0')).toBe(tenants);
      for (const day of [1, 2, 3]) await sweep(day);
      expect(await notes('day > 0')).toBe(tenants);
      await store.writeDirectory([
        directoryStatement(
          "update tenant set revision = 6, history_revision = 6 where id in ('tenant-7', 'tenant-77')",
        ),
      ]);
      await sweep(4);
      await sweep(4);
      await sweep(5);
      expect(await notes('day > 0')).toBe(tenants + 2);
      expect(await notes('is_swept = 1')).toBe(0);
      await sweep(31);
      expect(await notes('is_swept = 1')).toBe(tenants);
      const retention = { nowSeconds: (firstDay + 31) * daySeconds, days: 30 };
      expect((await readHistoryUse(store, retention)).sweepsDue).toBe(0);
      const later = { ...retention, nowSeconds: (firstDay + 35) * daySeconds };
      expect((await readHistoryUse(store, later)).sweepsDue).toBe(2);
      await sweep(91);
      expect(await notes('day > 0')).toBe(2);
      expect(Math.max(...returned)).toBeLessThanOrEqual(1_000);
    } finally {
      await close();
    }
  },
);

test('the days that are due are found by an index on the embedded store', async () => {
  const sqlite = engines.find(({ engine }) => engine === 'sqlite');
  if (sqlite === undefined) return;
  const { store, close } = await sqlite.openTestStore();
  try {
    const plan = async (sql: string): Promise<string> =>
      JSON.stringify((await store.writeDirectory([directoryStatement(`explain query plan ${sql}` as 'select 1')]))[0]);
    expect(
      await plan(
        'select tenant_id from tenant_revision where is_swept = 0 and day <= 5 order by day, tenant_id limit 9',
      ),
    ).toContain('tenant_revision_due');
    expect(
      await plan('select tenant_id from tenant_revision where day <= 5 order by day, tenant_id limit 9'),
    ).toContain('tenant_revision_day');
    let due = '';
    const readDirectory: Directory['readDirectory'] = (sql, values) => {
      due = sql;
      return store.readDirectory(sql, values);
    };
    await readHistoryUse(Object.assign(Object.create(store), { readDirectory }), { nowSeconds: 1, days: 30 });
    expect(await plan(due.replace('$1', '5'))).toContain('tenant_revision_due');
    expect(await plan("select id from tenant where history_from > history_swept and id > '' order by id")).toContain(
      'tenant_history_due',
    );
  } finally {
    await close();
  }
});
