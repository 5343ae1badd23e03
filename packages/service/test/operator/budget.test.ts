import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { errorTable } from '../../../contract/error.ts';
import { Spool } from '../../import/spool.ts';
import { openStore } from '../../storage/open-store.ts';
import type { Store } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const bytesMax = 2 ** 18;
const path = '/operator/v1/tenants';

/** Records of some 600 bytes each. */
const linesOf = (count: number, version: number, first = 0): string =>
  Array.from({ length: count }, (_, n) => {
    const { record } = subscriptionRow({ id: `id-${first + n}`, deviceId: `device-${version}` });
    const { product, ...others } = JSON.parse(record);
    return JSON.stringify({ ...others, product: { ...product, name: 'n'.repeat(200) } });
  }).join('\n');

describe.each(drawn)('loads within a storage budget on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let management: TestManagement;
  let token: string;

  const load = async (tenant: string, body: string, query = '') => {
    const { statusCode, payload } = await management.app.inject({
      method: 'PUT',
      url: `${path}/${tenant}/subscriptions${query}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      payload: body,
    });
    return { status: statusCode, body: JSON.parse(payload) };
  };
  const show = async (tenant: string) => (await management.send('GET', `${path}/${tenant}`, { token })).body;

  beforeAll(async () => {
    opened = await openTestStore();
    const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' } = opened.environment;
    store = openStore({ databaseUrl, dataDir, poolSize: 4, tenantBytesMax: bytesMax });
    management = await startManagement({ ...opened, store }, { spool: new Spool(join(dataDir, 'spool'), 2 ** 27) });
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
    for (const tenant of ['flipping', 'full', 'quiet'])
      await management.send('POST', path, { token, body: { tenant } });
    await load('quiet', linesOf(10, 0));
  });
  afterAll(async () => {
    await management.close();
    await store.close();
  });

  test('a client that flips its records ends at the budget, and other tenants notice nothing', async () => {
    const quiet = await show('quiet');
    for (let version = 0; version < 10; version += 1)
      expect((await load('flipping', linesOf(100, version))).body).toMatchObject({ accepted: 100, rejected: 0 });
    const { storage } = await show('flipping');
    expect(storage.budget).toBe(bytesMax);
    expect(storage.total).toBeGreaterThan(bytesMax * 0.9);
    expect(storage.total).toBeLessThanOrEqual(bytesMax);
    expect(await show('quiet')).toEqual(quiet);
  });

  test.each([
    ['', /more than now; (?:nothing was loaded|the \d+ records before them are loaded)$/],
    ['?strict=true', /more than now; nothing was loaded$/],
    ['?replace=true&remove=10', /more than now; nothing was changed$/],
    ['?replace=true&remove=10&dry-run=true', /more than now; nothing was changed$/],
  ])('a load%s beyond the budget is refused with the figures, and the tenant stays as it was', async (query, end) => {
    if (query !== '') await load('full', linesOf(10, 1), `?replace=true&remove=${(await show('full')).records}`);
    const before = await show('full');
    const { status, body } = await load('full', linesOf(220, 0, 1_000), query);
    expect(body).toMatchObject({
      type: expect.stringContaining('STORAGE_BUDGET_EXCEEDED'),
      messages: [expect.stringMatching(end)],
    });
    expect(status).toBe(errorTable.STORAGE_BUDGET_EXCEEDED.status);
    expect(body.messages[0]).toMatch(new RegExp(`budget of ${bytesMax} bytes .*they need \\d+ bytes, \\d+ more`));
    const { records, revision } = await show('full');
    if (query !== '') expect({ records, revision }).toEqual({ records: before.records, revision: before.revision });
  });

  test.each([
    ['', /200 distinct values of status: with these they have 201; nothing was loaded$/],
    ['?strict=true', /200 distinct values of status: with these they have 201; nothing was loaded$/],
    ['?strict=true&dry-run=true', /200 distinct values of status: with these they have 201; nothing was loaded$/],
    ['?replace=true', /200 distinct values of status: with these they have 201; nothing was changed$/],
  ])('a load%s with too many distinct statuses is refused with the figures', async (query, message) => {
    const lines = Array.from({ length: 201 }, (_, n) => subscriptionRow({ id: `status-${n}`, status: `S${n}` }).record);
    await management.send('POST', path, { token, body: { tenant: 'statuses' } });
    const { status, body } = await load('statuses', lines.join('\n'), query);
    expect(body.messages).toEqual([expect.stringMatching(message)]);
    expect(status).toBe(errorTable.STORAGE_BUDGET_EXCEEDED.status);
    expect(await show('statuses')).toMatchObject({ records: 0 });
  });

  test.each(['?strict=true', '?strict=true&dry-run=true'])(
    'a load%s with too many distinct plans of a product, some of them stored, stores nothing',
    async (query) => {
      const planned = (n: number) => subscriptionRow({ id: `plan-${n}`, productId: 'pro', planId: `plan ${n}` }).record;
      const tenant = `plans${query.length}`;
      await management.send('POST', path, { token, body: { tenant } });
      await load(tenant, planned(0), '');
      const { body } = await load(tenant, Array.from({ length: 1_001 }, (_, n) => planned(n)).join('\n'), query);
      expect(body.messages).toEqual([
        expect.stringMatching(/1000 distinct plans of one product: with these they have 1001; nothing was loaded$/),
      ]);
      expect(await show(tenant)).toMatchObject({ records: 1 });
    },
  );
});
