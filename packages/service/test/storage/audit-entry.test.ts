import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { SqliteConnection } from '../../storage/sqlite/connection.ts';
import type { Store } from '../../storage/store.ts';
import {
  insertAuditEntries,
  listAuditEntries,
  type NewAuditEntry,
  sweepAuditEntries,
} from '../../storage/tables/audit-entry.ts';

const daySeconds = 86_400;
const now = Math.floor(Date.now() / 1000);

const entry = (more: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
  recordedAt: now,
  actorKind: 'command',
  actorId: 'ada',
  actorName: null,
  address: null,
  action: 'client.rotate',
  tenant: 'acme',
  clientId: 'acme-reporting',
  outcome: 'ok',
  error: null,
  correlationId: null,
  details: '{}',
  ...more,
});

describe.each(drawOne(engines, import.meta.url))('the audit log on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let first: number;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    [first = 0] = await insertAuditEntries(store, [entry({ action: 'first' })]);
  });

  const list = (filter = {}, page = {}) => listAuditEntries(store, filter, { limit: 100, after: first - 1, ...page });
  const actions = async (...args: Parameters<typeof list>) => (await list(...args)).entries.map(({ action }) => action);

  /** Runs SQL as the owner of the tables. */
  async function runSql(sql: string): Promise<void> {
    if (engine === 'postgres') {
      const client = await connectPostgres(opened.environment.DATABASE_URL);
      await client.query(sql).finally(() => client.end());
      return;
    }
    const connection = new SqliteConnection(`${opened.environment.DATA_DIR}/subreport.db`, 0);
    try {
      connection.run(sql);
    } finally {
      connection.close();
    }
  }

  test.each([
    ['an update of an entry', "update audit_entry set action = 'nothing'"],
    ['a deletion of an entry', 'delete from audit_entry'],
    engine === 'postgres'
      ? ['truncating the table', 'truncate audit_entry']
      : [
          'replacing an entry',
          "insert or replace into audit_entry (id, recorded_at, actor_kind, action, outcome, details) select id, 0, '', '', '', '' from audit_entry",
        ],
  ])('the owner of the tables is refused %s', async (_title, sql) => {
    await expect(runSql(sql)).rejects.toThrow(/Cannot (?:change|delete|replace) /);
    expect(await actions()).toEqual(['first']);
  });

  test('the retention removes expired entries in batches, and none of the last 30 days whatever it is asked for', async () => {
    const old = Array.from({ length: 1_200 }, (_, n) =>
      entry({ action: 'old', recordedAt: now - 31 * daySeconds - n }),
    );
    await insertAuditEntries(store, [...old, entry({ action: 'young', recordedAt: now - 29 * daySeconds })]);
    expect(await sweepAuditEntries(store, now - 30 * daySeconds)).toBe(1_200);
    expect(await actions()).toEqual(['first', 'young']);
    await expect(sweepAuditEntries(store, now + 1)).rejects.toThrow(/Cannot (?:change|delete) /);
    expect(await actions()).toEqual(['first', 'young']);
  });

  test('entries are found by time, tenant, client, action, actor and outcome', async () => {
    await insertAuditEntries(store, [
      entry({ action: 'earlier', recordedAt: now - 100 }),
      entry({ action: 'elsewhere', tenant: 'globex', clientId: null }),
      entry({ action: 'by-name', actorKind: 'operator', actorId: 'op-1', actorName: 'grace', outcome: 'refused' }),
    ]);
    expect(await actions({ until: now - 99 })).toEqual(['earlier']);
    expect(await actions({ since: now, tenant: 'globex' })).toEqual(['elsewhere']);
    expect(await actions({ clientId: 'acme-reporting', outcome: 'ok' })).toEqual(['first', 'earlier']);
    expect(await actions({ actor: 'grace' })).toEqual(['by-name']);
    expect(await actions({ actor: 'op-1', action: 'by-name' })).toEqual(['by-name']);
    expect(await actions({ tenant: 'nobody' })).toEqual([]);
  });

  test('pages in both directions hold each entry once', async () => {
    await insertAuditEntries(
      store,
      ['a', 'b', 'c'].map((action) => entry({ action })),
    );
    const forward = await list({}, { limit: 3 });
    expect([forward.entries.map(({ action }) => action), forward.hasMore]).toEqual([['first', 'a', 'b'], true]);
    const rest = await list({}, { limit: 3, after: forward.reached });
    expect([rest.entries.map(({ action }) => action), rest.hasMore]).toEqual([['c'], false]);
    const back = await listAuditEntries(store, {}, { limit: 3 });
    expect(back.entries.map(({ action }) => action)).toEqual(['c', 'b', 'a']);
    const older = await listAuditEntries(store, {}, { limit: 1, before: back.reached });
    expect(older.entries.map(({ action }) => action)).toEqual(['first']);
  });

  test('an entry is found behind ten thousands of others', async () => {
    await runSql(
      `insert into audit_entry (id, recorded_at, actor_kind, action, outcome, details) values (${first + 25_000}, 0, '', 'far', '', '{}')`,
    );
    const found = await listAuditEntries(store, { action: 'first' }, { limit: 1 });
    expect(found.entries.map(({ id }) => id)).toEqual([first]);
    expect(await actions({ action: 'far' })).toEqual(['far']);
  });
});
