import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { importRecords } from '../../import/import-records.ts';
import { type SyntheticRow, syntheticRows } from '../../import/synthetic-rows.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const rows = [...syntheticRows({ count: 3, seed: 8, until: 1_767_225_600 })];
const [first, second] = rows as [SyntheticRow, SyntheticRow];
const ndjson = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const reversed = (value: object): object => Object.fromEntries(Object.entries(value).reverse());

describe.each(drawOne(engines, import.meta.url))(
  'an import into $engine of rows that may be stored',
  ({ openTestStore }) => {
    let opened: TestStore;
    let store: Store;
    let tenant: TenantId;
    let tenants = 0;
    const revision = async () => (await findTenant(store, tenant))?.revision;
    const load = async (text: string | Buffer) => {
      const source = (async function* () {
        yield typeof text === 'string' ? Buffer.from(text) : text;
      })();
      return importRecords(store, tenant, source, { format: 'ndjson', dryRun: false, onRejected: () => undefined });
    };
    const stored = () =>
      store.readTenant(tenant, async (reader) => ({
        records: (await reader.all('select record, email from subscription where tenant_id = $1 order by id')).map(
          ({ record, email }) => ({ ...JSON.parse(String(record)), email }),
        ),
        problems: (await checkCounts(reader)).problems,
      }));
    /** Fills a new tenant with the rows. */
    const begin = async (): Promise<void> => {
      tenants += 1;
      tenant = await addTenant(store, `tenant-${tenants}`);
      await load(ndjson(rows));
    };

    beforeAll(async () => {
      opened = await openTestStore();
      store = opened.store;
    });
    afterAll(() => opened.close());

    test.each([
      ['as it is written', ndjson(rows)],
      ['with its fields in another order', ndjson(rows.map(reversed))],
      ['in a lenient form', ndjson(rows.map((row) => ({ ...row, auto_renew: row.auto_renew === 'true' })))],
      ['with its email address in upper case', ndjson(rows.map((row) => ({ ...row, email: row.email.toUpperCase() })))],
      ['twice, the last time as it is', ndjson([{ ...first, status: 'OTHER' }, ...rows])],
    ])('counts a stored row %s as unchanged, without a revision', async (_how, text) => {
      await begin();
      expect(await load(text)).toMatchObject({ rejected: 0, inserted: 0, updated: 0, unchanged: 3 });
      expect(await revision()).toBe(1);
    });

    test('rejects a row that is not UTF-8, although its bytes read as Latin-1 are a stored record', async () => {
      await begin();
      const accented = { ...first, email: null, product: { ...first.product, name: 'Café' } };
      const { email: _email, ...row } = accented;
      expect(await load(ndjson([row]))).toMatchObject({ updated: 1 });
      const line = `${(await stored()).records.map(({ email, ...record }) => JSON.stringify(record)).find((text) => text.includes('Café'))}\n`;
      expect(await load(line)).toMatchObject({ unchanged: 1, rejected: 0 });
      expect(await load(Buffer.from(line, 'latin1'))).toMatchObject({ unchanged: 0, rejected: 1 });
    });

    test('removes the stored email address of a row that has none, and no other', async () => {
      await begin();
      const { email: _email, ...without } = first;
      expect(await load(ndjson([without, second]))).toMatchObject({ updated: 1, unchanged: 1 });
      expect(await load(ndjson([without, second]))).toMatchObject({ updated: 0, unchanged: 2 });
    });
  },
);
