import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rewriteParquet } from '../../../../test/support/checker-packages.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { parquetRowOf } from '../../../../test/support/parquet-row.ts';
import { openExport } from '../../../../test/support/read-export.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import { createClient, type ExportQuery } from '../../../client/index.ts';
import { startFaultyProxy } from '../../../client/test/faulty-proxy.ts';
import { recordFields } from '../../../contract/record-fields.ts';
import type { Subscription } from '../../../contract/subscription.ts';
import { importRecords } from '../../import/import-records.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import type { TenantId } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

const columnNames = recordFields.map(({ column }) => column);

const hostileTexts = ['=1+1', "'", '"', ',', '', '＝1', 'Zürich 日本 🎉', 'NULL', '\\n', '0123', 'a\\\\"b'];
const hostile = hostileTexts.map((text, n) =>
  subscriptionRow({
    id: `hostile_${n}`,
    createdDate: 1_600_000_000 + n,
    status: n % 2 === 0 ? null : 'ACTIVE',
    deviceId: text,
    autoRenew: n % 3 === 0 ? 'true' : 'false',
    iccid: '8944500102198304826123',
  }),
);

const arrayBufferOf = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe.each(drawn)('a report as Parquet on $engine', ({ engine, openTestStore }) => {
  // the rest is about bytes that are the same on both engines
  const isFirst = engine === engines[0].engine;
  let service: TestService;
  let tenant: TenantId;
  let credentials: TestClient;
  let token: string;
  beforeAll(async () => {
    service = await startService(await openTestStore(), { EXPORTS_MAX: '8' });
    tenant = await service.createTenant('acme');
    credentials = await service.createClient(tenant);
    const rows = [...syntheticRows({ count: 6_000, seed: 5, until: 1_767_225_600 })];
    const source = (async function* () {
      yield Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
    })();
    const options = { format: 'ndjson', dryRun: false, onRejected: () => undefined } as const;
    await importRecords(service.store, tenant, source, options);
    await service.store.loadSubscriptions(tenant, hostile);
    token = await service.accessToken(credentials);
  });
  afterAll(() => service.close());

  const under = (query: string): string => `${service.baseUrl}/v1/subscription?all=true&${query}`;

  /** The file as any client receives it, and the report as NDJSON. */
  async function read(query: string) {
    const response = await openExport(under(`format=parquet&${query}`), token);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const file = Buffer.concat(chunks);
    const lines = await (await service.get(`/v1/subscription?all=true&format=ndjson&${query}`, token)).text();
    const records: Subscription[] = lines
      .split('\n')
      .slice(0, -2)
      .map((line) => JSON.parse(line));
    const { headers, trailers } = response;
    return { file, records, headers, trailers, rows: await parquetReadObjects({ file: arrayBufferOf(file) }) };
  }

  test.each([
    '',
    'status=ACTIVE,DEPLETED&sort=-expirationDate',
    'auto-renew=true&created-from=2023-06-01T00:00:00Z&sort=activationDate',
    'status=none',
  ])('has the records of NDJSON in its order, with their number and hash: %s', async (query) => {
    const { file, records, rows, headers, trailers } = await read(query);
    expect(records.length).toBeGreaterThan(5);
    expect(rows).toEqual(records.map(parquetRowOf));
    // as the Arrow of Rust reads it
    const written = rewriteParquet?.(file) ?? file;
    expect(await parquetReadObjects({ file: new Uint8Array(written).buffer })).toEqual(rows);
    expect(headers['x-total-count']).toBe(String(records.length));
    expect(headers['content-type']).toBe('application/vnd.apache.parquet');
    expect(headers['content-disposition']).toBe('attachment; filename="subscriptions.parquet"');
    expect(trailers).toEqual({ 'x-export-rows': String(records.length), 'x-export-sha256': sha256(file) });
  });

  test('has the columns of fields in their order, and the same bytes each time', async () => {
    const fields = ['iccid', 'product.period', 'expirationDate', 'status'];
    const { records } = await read('sort=-createdDate');
    const { file, rows, trailers } = await read(`sort=-createdDate&fields=${fields}`);
    const columns = fields.map((name) => recordFields.find((field) => field.name === name)?.column ?? '');
    expect(
      parquetMetadata(arrayBufferOf(file))
        .schema.slice(1)
        .map(({ name }) => name),
    ).toEqual(columns);
    const expected = records.map(parquetRowOf);
    expect(rows).toEqual(expected.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]]))));
    expect(trailers['x-export-sha256']).toBe(sha256(file));
    expect(sha256((await read(`sort=-createdDate&fields=${fields}`)).file)).toBe(sha256(file));
    const { rows: none, file: empty } = await read(`device-id=nobody&fields=${fields}`);
    expect([none, parquetMetadata(arrayBufferOf(empty)).schema.length]).toEqual([[], fields.length + 1]);
  });

  test.runIf(isFirst)('has typed columns, times in UTC and row groups of at most 10,000 records', async () => {
    const { file, records } = await read('');
    const { schema, row_groups: groups } = parquetMetadata(arrayBufferOf(file));
    const [root, ...columns] = schema;
    expect(root?.num_children).toBe(columnNames.length);
    expect(columns.map(({ name }) => name)).toEqual(columnNames);
    const utc = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' };
    for (const { name, type, repetition_type: repetition, logical_type: logical } of columns) {
      const isOptional = name === 'status' || (name.startsWith('product_') && name !== 'product_id');
      expect([name, repetition]).toEqual([name, isOptional ? 'OPTIONAL' : 'REQUIRED']);
      const expected = name.endsWith('_date')
        ? ['INT64', utc]
        : { auto_renew: ['BOOLEAN', undefined], product_period: ['INT32', undefined] }[name];
      expect([name, type, logical]).toEqual([name, ...(expected ?? ['BYTE_ARRAY', { type: 'STRING' }])]);
    }
    const sizes = groups.map(({ num_rows: rows }) => Number(rows));
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10_000);
    expect(sizes.reduce((sum, rows) => sum + rows, 0)).toBe(records.length);
    expect(groups[0]?.columns[0]?.meta_data?.codec).toBe('SNAPPY');
  });

  test.runIf(isFirst)('has all columns without records', async () => {
    const { file, rows, trailers } = await read('device-id=nobody');
    expect(rows).toEqual([]);
    expect(
      parquetMetadata(arrayBufferOf(file))
        .schema.slice(1)
        .map(({ name }) => name),
    ).toEqual(columnNames);
    expect(trailers['x-export-rows']).toBe('0');
  });

  test.runIf(isFirst)('is verified by the client library, and written by the command line', async () => {
    const query: ExportQuery = { status: 'ACTIVE', sort: '-createdDate' };
    const { file } = await read('status=ACTIVE&sort=-createdDate');
    const { client_id: clientId, client_secret: clientSecret } = credentials;
    const client = createClient({ url: service.url, clientId, clientSecret });
    const report = await client.export(query, { format: 'parquet' });
    expect(sha256(await new Response(report).bytes())).toBe(sha256(file));
    const folder = mkdtempSync(join(tmpdir(), 'subreport-parquet-'));
    try {
      const variables = {
        SUBREPORT_URL: service.url,
        SUBREPORT_CLIENT_ID: clientId,
        SUBREPORT_CLIENT_SECRET: clientSecret,
      };
      const target = join(folder, 'active.parquet');
      const command = ['export', target, '--status', 'ACTIVE', '--sort', '-createdDate', '--json'];
      const { stdout } = await runHere(command, variables);
      expect(JSON.parse(stdout)).toEqual({ file: target, format: 'parquet', rows: report.totalCount });
      expect(sha256(readFileSync(target))).toBe(sha256(file));
      const refused = await runHere(['export', `${target}.gz`], variables);
      expect([refused.code, readdirSync(folder)]).toEqual([2, ['active.parquet']]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.runIf(isFirst).each<[string, (body: Buffer, headers: Record<string, unknown>) => Buffer, string]>([
    ['was altered', (body) => Buffer.from(body.with(500, (body[500] ?? 0) ^ 1)), 'HASH_DIFFERS'],
    ['has no summary', (body) => body.subarray(0, -1), 'INCOMPLETE'],
    [
      'is of other records than announced',
      (body, headers) => Object.assign(headers, { 'x-total-count': '7' }) && body,
      'ROWS_DIFFER',
    ],
    [
      'never ends',
      (body, headers) =>
        Object.assign(headers, { 'x-total-count': '1' }) && Buffer.concat([body, Buffer.alloc(2 ** 21)]),
      'INCOMPLETE',
    ],
  ])('that %s fails at its end', async (_name, edit, code) => {
    const proxy = await startFaultyProxy(service.url, ({ path }) => (path.includes('all=true') ? { edit } : undefined));
    try {
      const { client_id: clientId, client_secret: clientSecret } = credentials;
      const [baseUrl, tokenUrl] = [`${proxy.url}/connect-api`, `${service.url}/oauth2/token`];
      const client = createClient({ baseUrl, tokenUrl, clientId, clientSecret });
      const report = await client.export({ status: 'PENDING' }, { format: 'parquet' });
      await expect(new Response(report).bytes()).rejects.toMatchObject({ name: 'ExportError', code });
    } finally {
      await proxy.close();
    }
  });

  test('is not disturbed by exports beside it that are aborted', async () => {
    const aborted = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const [begun, whole] = await Promise.all([
      fetch(under('format=parquet'), { headers, signal: aborted.signal }),
      read('status=ACTIVE'),
    ]);
    aborted.abort();
    await expect(begun.bytes()).rejects.toThrow();
    expect(whole.rows).toHaveLength(whole.records.length);
    const after = await read('');
    expect(after.rows).toHaveLength(after.records.length);
  });

  test('is of a moment of the past with as-of', async () => {
    const { records, headers } = await read('device-id==1%2B1');
    expect(headers['x-revision']).toMatch(/^\d+$/);
    await service.store.loadSubscriptions(tenant, [
      {
        ...(hostile[0] as (typeof hostile)[0]),
        deviceId: 'other',
        record: (hostile[0]?.record ?? '').replace('"=1+1"', '"other"'),
      },
    ]);
    const past = await read(`device-id==1%2B1&as-of=${headers['x-revision']}`);
    expect(past.rows).toEqual(records.map(parquetRowOf));
    expect((await read('device-id==1%2B1')).rows).toEqual([]);
  });

  test.runIf(isFirst)('is no format of a page', async () => {
    const { detail } = await expectProblem(
      await service.get('/v1/subscription?format=parquet', token),
      'INVALID_REQUEST_PARAMS',
    );
    expect(detail).toContain("'format': it must be used with 'all=true': a Parquet file is a whole report");
    const accept = { accept: 'application/vnd.apache.parquet' };
    await expectProblem(await service.get('/v1/subscription', token, accept), 'INVALID_REQUEST_PARAMS');
    const whole = await service.get('/v1/subscription?all=true&device-id=nobody', token, accept);
    expect(whole.headers.get('content-type')).toBe('application/vnd.apache.parquet');
  });
});
