import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { enginesAndMore, type TestStore } from '../../../../test/support/engines.ts';
import { readTexts } from '../../../../test/support/read-page.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { StorageError } from '../../storage/error.ts';
import { countMatching, readRecord } from '../../storage/read/records.ts';
import { directoryStatement, type Store } from '../../storage/store.ts';
import { listAuthKeys } from '../../storage/tables/auth-key.ts';
import { insertAuthKey, rewriteAuthKey } from '../../storage/tables/auth-key-changes.ts';
import { findClient } from '../../storage/tables/client.ts';
import { disableClient, insertClient } from '../../storage/tables/client-changes.ts';
import { findClientWithSecrets, replaceSecret } from '../../storage/tables/client-secret.ts';
import { listClients } from '../../storage/tables/list-clients.ts';
import {
  deleteDeadFamilies,
  findRefreshFamily,
  insertRefreshFamily,
  revokeRefreshFamily,
  rotateRefreshFamily,
} from '../../storage/tables/refresh-family.ts';
import { findTenant, insertTenant, listTenants } from '../../storage/tables/tenant.ts';

const all = { dateColumn: 'created_date' } as const;
const byCreation = { column: 'created_date', descending: false } as const;

const hashesOf = async (store: Store, clientId: string, now: number) =>
  (await findClientWithSecrets(store, clientId, now))?.hashes;

describe.each(enginesAndMore)('the store on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  const tenantOf = (name: string) => addTenant(store, name);
  const revisionOf = async (name: string) => (await findTenant(store, name))?.revision;
  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());

  describe('subscriptions', () => {
    test('a row of which only the email differs is updated', async () => {
      const tenant = await tenantOf('update');
      const row = subscriptionRow({ id: 'a' });
      await store.loadSubscriptions(tenant, [row]);
      const changed = await store.loadSubscriptions(tenant, [{ ...row, email: 'ada@example.com' }]);
      expect([changed, await revisionOf('update')]).toEqual([{ inserted: 0, updated: 1, unchanged: 0 }, 2]);
    });

    test('the text of a record is stored byte for byte', async () => {
      const tenant = await tenantOf('bytes');
      const record = '{"id":"x","name":"Zürich – 5 GB 🎉 \\u0000 \\ud800 \\"quoted\\" \\\\"}';
      await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'x', record })]);
      expect(await store.readTenant(tenant, (reader) => readRecord(reader, 'x'))).toBe(record);
      expect(await store.readTenant(tenant, (reader) => readRecord(reader, 'y'))).toBeUndefined();
    });

    test('ids are ordered by their bytes', async () => {
      const tenant = await tenantOf('order');
      const ids = ['-', '0', '9', 'A', 'Z', '_', 'a', 'a=', 'aA', 'z'];
      await store.loadSubscriptions(
        tenant,
        ids.toReversed().map((id) => subscriptionRow({ id })),
      );
      for (const [skip, id] of ids.entries()) {
        const { records } = await readTexts({ store }, tenant, all, byCreation, { kind: 'offset', skip }, 1);
        expect(records.first?.id).toBe(id);
      }
    });

    test('dates from year 1 to 9999 are stored', async () => {
      const tenant = await tenantOf('dates');
      const extremes = [-62_135_596_800, 253_402_300_799];
      await store.loadSubscriptions(
        tenant,
        extremes.map((date, index) => subscriptionRow({ id: `d${index}`, createdDate: date })),
      );
      const { records } = await readTexts({ store }, tenant, all, byCreation, { kind: 'offset', skip: 0 }, 9);
      expect([records.first?.date, records.last?.date]).toEqual(extremes);
    });

    test('a reader sees one snapshot, without later commits', async () => {
      const tenant = await tenantOf('moment');
      await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'first' })]);
      const counts = await store.readTenant(tenant, async (reader) => {
        const before = await countMatching(reader, all);
        await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'second' })]);
        return [before, await countMatching(reader, all)];
      });
      expect(counts).toEqual([1, 1]);
      expect(await store.readTenant(tenant, (reader) => countMatching(reader, all))).toBe(2);
    });

    describe('snapshots', () => {
      const everyId = 'select id from subscription where tenant_id = $1 and id > $2 order by id';

      test('a snapshot streams batches on request, without later commits', async () => {
        const tenant = await tenantOf('snapshot');
        const ids = Array.from({ length: 10 }, (_, n) => `id-${n}`);
        await store.loadSubscriptions(
          tenant,
          ids.map((id) => subscriptionRow({ id })),
        );
        const snapshot = await store.openSnapshot(tenant, 60_000);
        expect(await countMatching(snapshot, all)).toBe(10);
        const sizes: number[] = [];
        let seen = '';
        for await (const { rows, lines } of snapshot.streamLines(everyId, ['id-0'], 4)) {
          sizes.push(rows);
          seen += lines;
          await store.loadSubscriptions(tenant, [subscriptionRow({ id: `new-${sizes.length}` })]);
        }
        expect(sizes).toEqual([4, 4, 1]);
        expect(seen).toBe(
          ids
            .slice(1)
            .map((id) => `${id}\n`)
            .join(''),
        );
        expect(await countMatching(snapshot, all)).toBe(10);
        await snapshot.close();
        expect(await store.readTenant(tenant, (reader) => countMatching(reader, all))).toBe(13);
      });

      test.each([[0], [1], [3], [5]])('a snapshot streams %i rows in batches of 3', async (count) => {
        const tenant = await tenantOf(`batches-${count}`);
        const rows = Array.from({ length: count }, (_, n) => subscriptionRow({ id: `b${n}` }));
        if (count > 0) await store.loadSubscriptions(tenant, rows);
        const snapshot = await store.openSnapshot(tenant, 60_000);
        const batches = await Array.fromAsync(snapshot.streamLines(everyId, [''], 3), ({ rows, lines }) => ({
          rows,
          ids: String(lines).split('\n').slice(0, -1),
        }));
        await snapshot.close();
        expect(batches.flatMap(({ ids }) => ids)).toEqual(rows.map(({ id }) => id));
        expect(batches.every(({ rows, ids }) => ids.length === rows && rows > 0 && rows <= 3)).toBe(true);
      });

      test('a snapshot uses no pooled connection, cannot write, and can be closed at any time', async () => {
        const tenant = await tenantOf('snapshot');
        const open = await Promise.all(Array.from({ length: 20 }, () => store.openSnapshot(tenant, 60_000)));
        expect(await store.readTenant(tenant, (reader) => countMatching(reader, all))).toBe(13);
        const [first] = open;
        if (first === undefined) throw new Error('no snapshot');
        await expect(first.all('delete from subscription where tenant_id = $1')).rejects.toThrow(/read-?only/i);
        const stream = open[1]?.streamLines(everyId, [''], 2)[Symbol.asyncIterator]();
        expect((await stream?.next())?.value).toMatchObject({ rows: 2 });
        await Promise.all(open.map((each) => each.close()));
        await expect(open[2]?.all(everyId, [''])).rejects.toThrow();
      });

      test('a snapshot rejects a wrong statement with its error, and can be closed', async () => {
        const snapshot = await store.openSnapshot(await tenantOf('snapshot'), 60_000);
        const wrong = snapshot.streamLines('select nothing_there from subscription where tenant_id = $1', [], 2);
        await expect(Array.fromAsync(wrong)).rejects.not.toBeInstanceOf(StorageError);
        await snapshot.close();
      });
    });

    test('a batch that fails stores none of its rows', async () => {
      const tenant = await tenantOf('atomic');
      const broken = { ...subscriptionRow({ id: 'broken' }), iccid: null as unknown as string };
      await expect(store.loadSubscriptions(tenant, [subscriptionRow({ id: 'fine' }), broken])).rejects.toThrow();
      expect(await store.readTenant(tenant, (reader) => countMatching(reader, all))).toBe(0);
      expect(await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'fine' })])).toMatchObject({ inserted: 1 });
    });

    test('a reader cannot write', async () => {
      const tenant = await tenantOf('readonly');
      const sql = 'delete from subscription where tenant_id = $1';
      const count = { sql: 'select count(*) as n from subscription where tenant_id = $1', values: [] } as const;
      await expect(store.readTenant(tenant, (reader) => reader.all(sql))).rejects.toThrow(/read-?only/i);
      await expect(store.readTenantOnce(tenant, { sql, values: [] })).rejects.toThrow(/read-?only/i);
      expect(await store.readTenantOnce(tenant, count)).toEqual([{ n: 0 }]);
    });

    test('concurrent loads of one tenant both succeed, each change with its own revision', async () => {
      const tenant = await tenantOf('busy');
      const other = opened.openAgain();
      const batches = Array.from({ length: 20 }, (_, batch) =>
        Array.from({ length: 25 }, (_each, n) => subscriptionRow({ id: `r${batch}-${n}` })),
      );
      await Promise.all(
        batches.map((rows, index) => (index % 2 === 0 ? store : other).loadSubscriptions(tenant, rows)),
      );
      expect(await store.readTenant(tenant, (reader) => countMatching(reader, all))).toBe(500);
      expect(await revisionOf('busy')).toBe(20);
    });
  });

  describe('tenants, clients and keys', () => {
    test('a tenant is created once and found by name', async () => {
      expect(await insertTenant(store, 'once', 7)).toBe(true);
      expect(await insertTenant(store, 'once', 8)).toBe(false);
      expect(await findTenant(store, 'once')).toEqual({
        tenant: 'once',
        createdAt: 7,
        revision: 0,
        deletingSince: null,
        columns: null,
        chargedBytes: 0,
      });
      const names = (await listTenants(store)).map(({ tenant }) => tenant);
      expect(names).toEqual([...names].sort());
    });

    test('a client is created once, and its secrets can be replaced', async () => {
      const tenant = await tenantOf('clients');
      const client = {
        clientId: 'c1',
        tenant,
        grants: ['client_credentials'],
        scopes: ['subscription:read'],
        createdAt: 5,
        disabledAt: null,
        lastUsedAt: null,
      };
      expect(await insertClient(store, client, 'hash-1')).toBe(true);
      expect(await insertClient(store, client, 'hash-2')).toBe(false);
      const made = { ...client, tokensRevokedAt: null, refreshTokenUse: null, rateLimit: null, name: null };
      expect(await findClient(store, 'c1')).toEqual(made);
      expect(await listClients(store, tenant)).toEqual([made]);
      expect(await hashesOf(store, 'c1', 10)).toEqual(['hash-1']);
      await replaceSecret(store, 'c1', 'hash-3', 10, 20);
      expect(await hashesOf(store, 'c1', 19)).toEqual(['hash-3', 'hash-1']);
      expect(await hashesOf(store, 'c1', 20)).toEqual(['hash-3']);
      for (const seconds of [30, 31]) await disableClient(store, 'c1', seconds);
      expect(await findClient(store, 'c1')).toMatchObject({ disabledAt: 30, tokensRevokedAt: 31 });
    });

    test('of two concurrent attempts to create a client one succeeds, and it has one secret', async () => {
      const tenant = await tenantOf('race');
      const client = {
        clientId: 'raced',
        tenant,
        grants: ['client_credentials'],
        scopes: ['subscription:read'],
        createdAt: 5,
        disabledAt: null,
        lastUsedAt: null,
      };
      const other = opened.openAgain();
      const made = await Promise.all([insertClient(store, client, 'hash-a'), insertClient(other, client, 'hash-b')]);
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await hashesOf(store, 'raced', 9)).toEqual([made[0] ? 'hash-a' : 'hash-b']);
    });

    test('of many rotations of one generation exactly one succeeds, and none extends a family past its maximum age', async () => {
      const tenant = await tenantOf('families');
      const client = { clientId: 'c2', tenant, grants: ['refresh_token'], scopes: ['s'], createdAt: 5 };
      await insertClient(store, client, 'h');
      const family = {
        id: 'f',
        clientId: 'c2',
        scope: 's',
        generation: 1,
        startedAt: 100,
        rotatedAt: 100,
        expiresAt: 200,
        capAt: 250,
        revokedAt: null,
      };
      const rotate = (generation: number, nowSeconds: number, expiresAt: number, more: object = {}) =>
        rotateRefreshFamily(store, {
          ...{ clientId: 'c2', id: 'f', generation, nowSeconds, expiresAt, accessEndsAt: nowSeconds + 300 },
          ...{ revokedUntil: null, reuse: false, ...more },
        });
      await insertRefreshFamily(store, { ...family, accessEndsAt: 900 }, 100);
      const rotations = await Promise.all(Array.from({ length: 8 }, () => rotate(1, 150, 300)));
      expect(rotations.filter((rotated) => rotated !== undefined)).toEqual([
        { ...family, generation: 2, rotatedAt: 150, expiresAt: 250 },
      ]);
      expect(await rotate(2, 250, 400)).toBeUndefined(); // over
      expect(await rotate(2, 160, 400, { clientId: 'other' })).toBeUndefined();
      expect(await rotate(2, 160, 400, { revokedUntil: 100 })).toBeUndefined();
      expect((await rotate(1, 160, 400, { reuse: true }))?.generation).toBe(3);
      expect(await rotate(4, 160, 400, { reuse: true })).toBeUndefined(); // never issued
      expect(await revokeRefreshFamily(store, 'c2', 'f', 170)).toBe(true);
      expect(await revokeRefreshFamily(store, 'c2', 'f', 171)).toBe(false);
      expect(await rotate(3, 180, 400)).toBeUndefined();
      expect((await findRefreshFamily(store, 'c2', 'f'))?.revokedAt).toBe(170);
      // the last second at which its access token is accepted
      await deleteDeadFamilies(store, 900 + 360);
      expect(await findRefreshFamily(store, 'c2', 'f')).toBeDefined();
      await deleteDeadFamilies(store, 901 + 360);
      expect(await findRefreshFamily(store, 'c2', 'f')).toBeUndefined();
    });

    test('a second key with the same number does not replace the first one', async () => {
      const key = { purpose: 'refresh', sequence: 1, kid: 'k', alg: 'HS256', createdAt: 1, activatesAt: 2 } as const;
      const inserted: boolean[] = [];
      for (const jwk of ['{"k":"1"}', '{"k":"2"}']) inserted.push(await insertAuthKey(store, { ...key, jwk }));
      expect(inserted).toEqual([true, false]);
      expect(await listAuthKeys(store, 'refresh')).toEqual([{ ...key, jwk: '{"k":"1"}' }]);
      await rewriteAuthKey(store, { ...key, jwk: 'encrypted' });
      expect(await listAuthKeys(store, 'refresh')).toEqual([{ ...key, jwk: 'encrypted' }]);
    });

    test('directory statements of one transaction all succeed or none does', async () => {
      const statements = [
        directoryStatement('insert into tenant (id, created_at) values ($1, $2)', ['half', 1]),
        directoryStatement('insert into tenant (id, created_at) values ($1, $2)', [null, 1]),
      ];
      await expect(store.writeDirectory(statements)).rejects.toThrow();
      expect(await findTenant(store, 'half')).toBeUndefined();
    });
  });
});
