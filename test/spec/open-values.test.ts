import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lineOf, rowOf } from '../../packages/cli/sync/source/record-row.ts';
import { writeWorkbook } from '../../packages/cli/workbook/workbook.ts';
import { createClient } from '../../packages/client/index.ts';
import { type Subscription, statusFilterOf } from '../../packages/contract/subscription.ts';
import { importRecords } from '../../packages/service/import/import-records.ts';
import { checkCounts } from '../../packages/service/storage/counts/check.ts';
import { checkRecords } from '../../packages/service/storage/maintenance/check-records.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { drawOne } from '../support/draw.ts';
import { engines } from '../support/engines.ts';
import { parquetRowOf } from '../support/parquet-row.ts';
import { readWorkbook } from '../support/read-workbook.ts';
import { startService, type TestService } from '../support/service.ts';

const chosen = drawOne(engines, import.meta.url);

// The specification leaves the values of `status` and `period_unit` open, and requires no member of
// a product but its id. Words that nobody chose, and absent members, are reported as they are
// loaded.

/** Words that once were, or could be, taken for something else. */
const traps = [
  ...['PRE-ACTIVE', 'Not started', 'CALENDAR-MONTH', 'Depleted', 'DEPLETED', 'EXPIRED', 'expired', 'ACTIVE'],
  ...['none', '\\none', '\\\\none', 'NONE', 'null', 'true', '0', ' ', ' ACTIVE', 'ACTIVE ', 'ACTIVE+', '+', '='],
  ...['=ACTIVE', 'plan p', '__proto__', 'constructor', '"', "'", '\\', '%', '%25', '$', '$.a', '[0]', 'a;b', '-1'],
  ...['é', 'e\u0301', '\u202e', '\u200b', '\u{1f6f0}', 'ß', 'İ', '日本', '\uffff', 'x'.repeat(64)],
  '\u{1f6f0}'.repeat(64),
];
/** The reader of Parquet files in this test drops a byte order mark. */
const isOpen = (text: string): boolean =>
  text.isWellFormed() && !text.startsWith('\ufeff') && [...text].length <= 64 && !/[,\p{Cc}\u2028\u2029]/u.test(text);
const word = fc.oneof(
  fc.constantFrom(...traps),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }).filter(isOpen),
  fc.string({ minLength: 1, maxLength: 8 }).filter(isOpen),
);
const product = fc.record(
  {
    id: fc.constantFrom('p', 'q', 'r"\\,'),
    name: fc.constantFrom('', 'Europe', '"name":', 'none'),
    period: fc.constantFrom(0, 30),
    period_unit: word,
    plan_id: fc.constantFrom('', 'a', 'b', 'null', 'none'),
  },
  { requiredKeys: ['id'] },
);
const recordsMax = 90;
const records = fc
  .array(
    fc.record(
      { status: word, product, auto_renew: fc.constantFrom('true', 'false') },
      { requiredKeys: ['product', 'auto_renew'] },
    ),
    {
      minLength: 60,
      maxLength: recordsMax,
    },
  )
  .map((drawn) =>
    drawn.map(
      ({ status, product: { id, ...members }, auto_renew }, n): Subscription => ({
        id: `s${n}`,
        ...(status !== undefined && { status }),
        activationDate: '2024-05-01T08:00:00Z',
        expirationDate: '2024-05-31T08:00:00Z',
        createdDate: new Date(1_700_000_000_000 + 1000 * n).toISOString().replace('.000', ''),
        product: JSON.parse(
          JSON.stringify({
            id,
            name: members.name,
            period: members.period,
            period_unit: members.period_unit,
            plan_id: members.plan_id,
          }),
        ),
        iccid: '8944500102198304826',
        device_id: 'd',
        auto_renew: auto_renew as 'true' | 'false',
      }),
    ),
  );

/** Compares lists item by item, so that a failure shows one. */
function expectSame(found: readonly unknown[], wanted: readonly unknown[]): void {
  for (const [index, each] of wanted.entries()) expect(found[index]).toEqual(each);
  expect(found).toHaveLength(wanted.length);
}

/** Records by a value, as a summary has them. */
const countsBy = (all: readonly Subscription[], read: (record: Subscription) => string | null) =>
  Map.groupBy(all, read);
const inSummary = (groups: ReadonlyMap<string | null, readonly unknown[]>) =>
  [...groups]
    .map(([value, { length: count }]) => ({ value, count }))
    .toSorted(
      (a, b) => Number(a.value === null) - Number(b.value === null) || (String(a.value) < String(b.value) ? -1 : 1),
    );

describe.each(chosen)('values that the specification leaves open on $engine', ({ openTestStore }) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(await openTestStore());
  });
  afterAll(() => service.close());

  let tenants = 0;
  const load = (tenant: TenantId, text: string, format: 'ndjson' | 'csv' = 'ndjson') => {
    const source = (async function* () {
      yield Buffer.from(text);
    })();
    const onRejected = (row: object): never => {
      throw new Error(JSON.stringify(row));
    };
    return importRecords(service.store, tenant, source, { format, dryRun: false, onRejected });
  };

  async function checkAll(all: readonly Subscription[]): Promise<void> {
    const tenant = await service.createTenant(`open-${tenants++}`);
    const lines = all.map((record) => `${JSON.stringify(record)}\n`);
    await load(tenant, lines.join(''));
    const credentials = await service.createClient(tenant);
    const token = await service.accessToken(credentials);
    const get = async (path: string): Promise<Response> => {
      const response = await service.get(path, token);
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response;
    };
    const client = createClient({
      baseUrl: service.baseUrl,
      tokenUrl: `${service.url}/oauth2/token`,
      clientId: credentials.client_id,
      clientSecret: credentials.client_secret,
      allowHttp: true,
    });
    const exported = async (query: string): Promise<Buffer> =>
      Buffer.from(await (await get(`/v1/subscription?all=true&${query}`)).arrayBuffer());

    // every format has each value, byte by byte
    expect(await (await get(`/v1/subscription?size=${recordsMax}`)).text()).toBe(JSON.stringify(all));
    expect(await (await get(`/v1/subscription/${all[0]?.id}`)).text()).toBe(JSON.stringify(all[0]));
    const ndjson = (await exported('format=ndjson')).toString().split('\n').slice(0, -2);
    expectSame(
      ndjson.map((line) => `${line}\n`),
      lines,
    );
    expectSame(
      ndjson.map((line) => lineOf(rowOf(line))),
      ndjson,
    );
    const parquet = await exported('format=parquet');
    const rows = await parquetReadObjects({ file: new Uint8Array(parquet).buffer });
    expectSame(rows, all.map(parquetRowOf));
    const sheet = readWorkbook(
      Buffer.from(await new Response(writeWorkbook(new Blob(lines).stream() as never)).arrayBuffer()),
    );
    expect(sheet.slice(1).map((cells) => [cells[1]?.value ?? '', cells[8]?.value ?? ''])).toEqual(
      all.map(({ status = '', product: { period_unit = '' } }) => [status, period_unit]),
    );
    const parsed = [];
    for await (const record of client.subscriptions({ size: 50 }, { parse: true })) parsed.push(record);
    expect(parsed.map(({ status, product }) => ({ status, product }))).toEqual(
      all.map(({ status, product }) => ({ status, product })),
    );

    // CSV that is loaded again gives the same records
    const again = await service.createTenant(`open-${tenants++}`);
    await load(again, (await exported('format=csv')).toString(), 'csv');
    const ofAgain = await service.accessToken(await service.createClient(again));
    const fromCsv = await service.get(`/v1/subscription?size=${recordsMax}`, ofAgain);
    expect(await fromCsv.text()).toBe(JSON.stringify(all));

    // filters and counts
    const statuses = countsBy(all, ({ status = null }) => status);
    const plans = countsBy(all, ({ product: { plan_id = null } }) => plan_id);
    const summary = await client.summary({ by: ['status', 'plan-id'] });
    expect(summary).toMatchObject({
      total: all.length,
      by: { status: inSummary(statuses), 'plan-id': inSummary(plans) },
    });
    const idsOf = async (query: string) => {
      // longer filters than links may have
      const body = JSON.stringify({ size: recordsMax, ...Object.fromEntries(new URLSearchParams(query)) });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${service.baseUrl}/v1/subscription/search`, { method: 'POST', headers, body });
      const found = ((await response.json()) as Subscription[]).map(({ id }) => id);
      expect(response.headers.get('x-total-count')).toBe(String(found.length));
      return found;
    };
    const filterOf = (...some: (string | null)[]) => `status=${encodeURIComponent(some.map(statusFilterOf).join(','))}`;
    for (const [status, own] of statuses) {
      expect(await idsOf(filterOf(status))).toEqual(own.map(({ id }) => id));
      const renewing = own.filter(({ auto_renew }) => auto_renew === 'true').map(({ id }) => id);
      expect(await idsOf(`${filterOf(status)}&auto-renew=true&product-id=p`)).toEqual(
        renewing.filter((id) => all.find((record) => record.id === id)?.product.id === 'p'),
      );
    }
    const [one = null, two = null] = [...statuses.keys()].toReversed();
    const ofTwo = all.filter(({ status = null }) => status === one || status === two).map(({ id }) => id);
    expect(await idsOf(filterOf(one, two))).toEqual(ofTwo);
    for (const [plan, own] of plans)
      if (plan !== null && plan !== '') expect(await idsOf(`plan-id=${plan}`)).toEqual(own.map(({ id }) => id));

    // what was stored is consistent, and the second load finds nothing to change
    expect(await load(tenant, lines.join(''))).toMatchObject({ unchanged: all.length, inserted: 0, updated: 0 });
    await service.store.readTenant(tenant, async (reader) => {
      expect((await checkCounts(reader)).problems).toEqual([]);
      expect((await checkRecords(reader, service.store.engine)).problems).toEqual([]);
    });

    // without any of these values, and back: the past and the changes have them too
    const before = Number((await get('/v1/subscription?all=true&format=ndjson')).headers.get('x-revision'));
    const plain = all.map((record) => ({ ...record, status: 'ACTIVE', product: { id: 'p', plan_id: 'a' } }));
    await load(tenant, plain.map((record) => JSON.stringify(record)).join('\n'));
    expectSame((await exported(`format=ndjson&as-of=${before}`)).toString().split('\n').slice(0, -2), ndjson);
    const past = await client.summary({ by: ['status', 'plan-id'], 'as-of': before });
    expect(past).toEqual(summary);
    await load(tenant, lines.join(''));
    const changes = [];
    for await (const page of client.changes()) changes.push(...page.changes);
    expectSame(
      changes.toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1))),
      all,
    );
    await service.store.readTenant(tenant, async (reader) => {
      expect((await checkCounts(reader)).problems).toEqual([]);
    });
  }

  test('every word and every absent member is reported, filtered and counted as it was loaded', async () => {
    const ofSeed = async (seed: number): Promise<void> => checkAll(fc.sample(records, { seed, numRuns: 1 })[0] ?? []);
    await fc.assert(fc.asyncProperty(fc.nat(), ofSeed), { numRuns: 3, endOnFailure: true });
  });
});
