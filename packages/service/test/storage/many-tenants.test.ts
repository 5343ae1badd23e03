import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { sweepStore } from '../../cli/serving/sweep-regularly.ts';
import { firstImportIdAt } from '../../import/with-history.ts';
import { requireTenant } from '../../operator/require-tenant.ts';
import { directoryStatement, type Store, type TenantId } from '../../storage/store.ts';
import { insertAuditEntries, listAuditEntries } from '../../storage/tables/audit-entry.ts';
import { listImportRows, putImport } from '../../storage/tables/import-history.ts';
import { countImports } from '../../storage/tables/import-totals.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

const tenants = 600;
const nowMs = Date.UTC(2026, 5, 1);
const nowSeconds = nowMs / 1000;
const names = Array.from({ length: tenants }, (_, n) => `tenant-${String(n).padStart(4, '0')}` as TenantId);

const putOld = (store: Store, tenant: TenantId, n: number): Promise<void> =>
  putImport(store, {
    ...{ id: `${firstImportIdAt(nowMs + n)}-7000-8000-000000000000`, tenant },
    ...{ startedAt: nowSeconds, endedAt: nowSeconds, options: [], columns: null },
    ...{ actorKind: 'command', actorId: 'ada', actorName: null, address: null, via: 'command', format: 'ndjson' },
    ...{ result: 'ok', error: null, counts: null, revision: 1 },
  });

const entryOf = () => ({
  ...{ recordedAt: nowSeconds, actorKind: 'command', actorId: null, actorName: null, address: null, action: 'x' },
  ...{ tenant: null, clientId: null, outcome: 'ok', error: null, correlationId: null, details: '{}' },
});

/** Families of a client that have ended, which a sweep removes. */
async function insertFamilies(store: Store, count: number): Promise<void> {
  const { client_id: id } = await createClient(store, nowSeconds, { tenant: names[0] ?? ('' as TenantId) });
  await store.writeDirectory(
    Array.from({ length: count }, (_, n) =>
      directoryStatement(
        `insert into refresh_family (client_id, id, scope, generation, started_at, rotated_at, expires_at, cap_at, access_ends_at)
         values ($1, $2, 'x', 1, cast($3 as bigint), cast($3 as bigint), cast($3 as bigint), cast($3 as bigint), cast($3 as bigint))`,
        [id, `family-${n}`, nowSeconds - 3_600],
      ),
    ),
  );
}

/**
 * Counts the calls of a store and the rows that they return, altogether and between two turns of
 * the event loop.
 */
function watch(store: Store) {
  const all = { calls: 0, rows: 0 };
  const mostOfTurn = { calls: 0, rows: 0 };
  let turn: { calls: number; rows: number } | undefined;
  const count = (more: { calls: number; rows: number }): void => {
    if (turn === undefined)
      setImmediate(() => {
        turn = undefined;
      });
    turn ??= { calls: 0, rows: 0 };
    for (const name of ['calls', 'rows'] as const) {
      all[name] += more[name];
      turn[name] += more[name];
      mostOfTurn[name] = Math.max(mostOfTurn[name], turn[name]);
    }
  };
  const note = (answer: Promise<unknown>): Promise<unknown> => {
    count({ calls: 1, rows: 0 });
    return answer.then((read) => {
      count({ calls: 0, rows: Array.isArray(read) ? read.flat().length : 0 });
      return read;
    });
  };
  const watched = new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name];
      if (typeof member !== 'function') return member;
      const call = (...args: never[]): unknown => {
        const answer = (member as (...given: never[]) => unknown).apply(target, args);
        return answer instanceof Promise ? note(answer) : answer;
      };
      return call;
    },
  });
  return { watched, all, mostOfTurn };
}

// its statements run on the main thread
describe('an embedded store of many tenants', () => {
  let opened: TestStore;
  beforeAll(async () => {
    opened = await engines[0].openTestStore();
    for (const name of names) await insertTenant(opened.store, name, nowSeconds);
  });
  afterAll(() => opened.close());

  test('a sweep lets other requests run between its tenants, and ends with nothing left', async () => {
    for (const [n, name] of names.entries()) await putOld(opened.store, name, n);
    await insertAuditEntries(opened.store, Array.from({ length: 3_000 }, entryOf));
    await insertFamilies(opened.store, 3_000);
    const { watched, mostOfTurn } = watch(opened.store);
    const failures: unknown[] = [];
    const settings = { TOMBSTONE_DAYS: 30, HISTORY_DAYS: 30, AUDIT_RETENTION_DAYS: 365 };
    // the day is noted, then used by both sweeps, then the imports and the audit log are old
    for (const days of [0, 32, 100, 400])
      await sweepStore(watched, settings, nowMs + days * 86_400_000, (error) => failures.push(error));
    expect(failures).toEqual([]);
    expect(await listImportRows(opened.store, {}, 1)).toEqual([]);
    expect(await listAuditEntries(opened.store, {}, { limit: 1 })).toMatchObject({ entries: [] });
    expect(mostOfTurn.calls).toBeGreaterThan(0);
    expect(mostOfTurn.calls).toBeLessThan(tenants / 10);
    expect(mostOfTurn.rows).toBeLessThanOrEqual(1_000);
  });

  test('the imports of a day are counted in steps', async () => {
    for (const [n, name] of names.slice(0, 25).entries()) await putOld(opened.store, name, n);
    const { watched, mostOfTurn } = watch(opened.store);
    const total = { via: 'command', result: 'ok', imports: 25, accepted: 0, rejected: 0 };
    expect(await countImports(watched, '', 10)).toEqual([total]);
    expect(mostOfTurn.calls).toBe(1);
  });

  test('a misspelled name is compared with some of the names only', async () => {
    const { watched, all } = watch(opened.store);
    await expect(requireTenant(watched, 'tenant-05009')).rejects.toThrow("did you mean 'tenant-0500'?");
    expect(all.rows).toBeLessThan(tenants / 2);
  });
});
