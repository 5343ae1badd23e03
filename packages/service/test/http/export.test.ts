import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { truncateSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { expectProblem } from '../../../../test/support/expect-error.ts';
import { finishExport, openExport } from '../../../../test/support/read-export.ts';
import { startService, type TestClient, type TestService } from '../../../../test/support/service.ts';
import type { Subscription } from '../../../contract/subscription.ts';
import { checkRow } from '../../import/check-row.ts';
import { importRecords } from '../../import/import-records.ts';
import type { ImportFormat } from '../../import/read-valid-rows.ts';
import { type SyntheticRow, syntheticRows } from '../../import/synthetic-rows.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';

const drawn = drawOne(engines, import.meta.url);

const until = 1_767_225_600;
const report = '/connect-api/v1/subscription';

function rowOf(source: object): SubscriptionRow {
  const checked = checkRow(source);
  if ('faults' in checked) throw new TypeError(JSON.stringify(checked.faults));
  return checked.row;
}

async function load(store: Store, tenant: TenantId, rows: readonly SubscriptionRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += 5_000)
    await store.loadSubscriptions(tenant, rows.slice(start, start + 5_000));
}

/** Twenty chunks of a report. */
const many = [...syntheticRows({ count: 5_000, seed: 5, until })].map(rowOf);

/** Some 40 MB of long records: more than the buffers of a connection hold. */
const large = many.map((row, n) => ({
  ...row,
  id: `large-${n}`,
  record: row.record
    .replace(/"id":"[^"]*"/, `"id":"large-${n}"`)
    .replace(/"name":"[^"]*"/, `"name":"${'x'.repeat(8_000)}"`),
}));

/** Records with every string that a spreadsheet or a CSV parser could misread. */
const hostileTexts = [
  '=1+1',
  '+1',
  '-1+1',
  '@SUM(A1)',
  "'=1",
  "''",
  "'",
  '"',
  '""',
  ',',
  'a,b',
  '"=1",2',
  ' =1',
  ' a ',
  '',
  '＝1',
  ';=1',
  '#rows',
  'Zürich 日本 🎉',
  'NULL',
  '\\"',
  '\\n',
  'true',
  '0123',
  '1e5',
];
const hostileRows = hostileTexts.map((text, n): SyntheticRow => {
  const [base] = [...syntheticRows({ count: 1, seed: n, until })] as [SyntheticRow];
  const id = `${'--_a'[n % 4]}${n}`;
  return {
    ...base,
    id,
    device_id: text,
    product: { ...base.product, id: text === '' ? 'p' : text, name: text, plan_id: text },
    email: `user${n}@example.com`,
  };
});

const summaryOf = (text: string) => {
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const body = text.slice(0, end);
  return { body, summary: JSON.parse(text.slice(end)).summary as { rows: number; sha256: string } };
};
const linesOf = async (response: Response): Promise<Subscription[]> =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
/** Waits until the last export of the log has failed. */
async function untilFailed(service: TestService): Promise<void> {
  const lastOf = (message: string) => service.log.findLast(({ msg }) => msg === message);
  await expect.poll(() => lastOf('export')).toMatchObject({ complete: false });
  await expect
    .poll(() => lastOf('an export failed'))
    .toMatchObject({ level: 40, err: { message: expect.any(String) } });
}
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const idOf = (record: string): string => (JSON.parse(record) as Subscription).id;

describe.each(drawn)('whole reports on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let service: TestService;
  /** The same service with an export stall limit of two seconds. */
  let impatient: TestService;
  let token: string;
  let smallToken: string;
  let largeToken: string;
  let otherLargeToken: string;
  let impatientToken: string;
  const under = (query: string, of = service): string => `${of.baseUrl}/v1/subscription?${query}`;
  const clientOf = async (tenant: TenantId): Promise<TestClient> => service.createClient(tenant);
  let open: IncomingMessage[] = [];
  let begun = 0;
  let endedBefore = 0;
  const exportLines = () => [...service.log, ...impatient.log].filter(({ msg }) => msg === 'export');
  const begin = async (query: string, as = largeToken, of = service, headers = {}): Promise<IncomingMessage> => {
    const response = await openExport(under(query, of), as, headers);
    open.push(response);
    if (response.statusCode === 200) begun += 1;
    return response;
  };
  const receive = async (query: string, as = smallToken) => finishExport(await begin(query, as));

  /** Waits until every export of this test has ended and freed its slot and connection. */
  const untilNone = async (): Promise<void> => {
    await eventually(async () => {
      expect(exportLines().length - endedBefore).toBe(begun);
      if (engine === 'postgres') expect(await snapshotsOpen()).toBe(0);
    });
  };
  const withPostgres = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const snapshotsOpen = (): Promise<number> =>
    withPostgres(async (client) => {
      const { rows } = await client.query(
        "select count(*) as n from pg_stat_activity where application_name = 'subreport-export' and datname = current_database()",
      );
      return Number(rows[0]?.n);
    });

  beforeAll(async () => {
    opened = await openTestStore();
    const limits = { EXPORTS_MAX: '3' };
    service = await startService(opened, limits, { exportStallSeconds: 3_600 });
    impatient = await startService({ ...opened, close: async () => undefined }, limits, { exportStallSeconds: 2 });
    const [acme, small, bulky] = await Promise.all(
      ['acme', 'small', 'bulky'].map((name) => service.createTenant(name)),
    );
    await load(service.store, acme as TenantId, many);
    await load(service.store, small as TenantId, hostileRows.map(rowOf));
    await load(service.store, bulky as TenantId, large);
    token = await service.accessToken(await clientOf(acme as TenantId));
    smallToken = await service.accessToken(await clientOf(small as TenantId));
    largeToken = await service.accessToken(await clientOf(bulky as TenantId));
    otherLargeToken = await service.accessToken(await clientOf(bulky as TenantId));
    impatientToken = await impatient.accessToken(await clientOf(bulky as TenantId));
  });
  beforeEach(() => {
    open = [];
    begun = 0;
    endedBefore = exportLines().length; // whatever became of the tests before
  });
  afterEach(async () => {
    for (const response of open) response.destroy();
    await untilNone();
  });
  afterAll(async () => {
    await impatient.close();
    await service.close();
  });

  describe('forms of a page', () => {
    const page = async (query: string, accept?: string) =>
      service.get(`/v1/subscription?${query}`, smallToken, accept === undefined ? {} : { accept });

    test('JSON, CSV and NDJSON have the same records and the same headers of paging', async () => {
      const [json, csv, ndjson] = (await Promise.all(
        ['json', 'csv', 'ndjson'].map((format) => page(`size=7&page=2&format=${format}`)),
      )) as [Response, Response, Response];
      const records = (await json.json()) as Subscription[];
      expect(records).toHaveLength(7);
      expect(await linesOf(ndjson)).toEqual(records);
      const table = parse(await csv.text(), { columns: true, record_delimiter: '\r\n' }) as Record<string, string>[];
      expect(table.map(({ iccid }) => iccid)).toEqual(records.map(({ iccid }) => iccid));
      for (const name of ['x-total-count', 'x-total-pages', 'x-current-page', 'x-count-per-page', 'x-applied-filters'])
        expect([csv.headers.get(name), ndjson.headers.get(name)]).toEqual(Array(2).fill(json.headers.get(name)));
      const types = [json, csv, ndjson].map(({ headers }) => headers.get('content-type'));
      expect(types).toEqual([
        'application/json; charset=utf-8',
        'text/csv; charset=utf-8; header=present',
        'application/x-ndjson; charset=utf-8',
      ]);
      for (const { headers } of [json, csv, ndjson])
        expect(headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding');
    });

    test('links keep the format, and their cursors are valid in every format', async () => {
      const first = await page('size=7&format=csv');
      const next = first.headers.get('x-next-page') ?? '';
      expect(next).toContain('format=csv');
      const following = await service.get(next.slice(service.baseUrl.length).replace('csv', 'ndjson'), smallToken);
      const expected = (await (await page('size=7&page=2')).json()) as Subscription[];
      expect(await linesOf(following)).toEqual(expected);
    });

    test.each([
      ['', 'text/csv', 'text/csv'],
      ['', 'application/x-ndjson', 'application/x-ndjson'],
      ['', 'text/*', 'text/csv'],
      ['', 'text/csv;q=0.5, application/json;q=0.4', 'text/csv'],
      ['', 'text/csv;q=0.5, application/json', 'application/json'],
      ['', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
      ['', '*/*', 'application/json'],
      ['', 'application/*', 'application/json'],
      ['format=csv', 'application/json', 'text/csv'],
      ['format=ndjson', 'text/html', 'application/x-ndjson'],
      ['format=json', 'text/csv', 'application/json'],
    ])('%s with Accept: %s is %s', async (query, accept, type) => {
      const response = await page(query, accept);
      expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
    });

    test('an Accept header without a supported format gets 406, but a fault of the query comes first', async () => {
      await expectProblem(await page('', 'text/html'), 'UNACCEPTABLE');
      await expectProblem(await page('size=0', 'text/html'), 'INVALID_REQUEST_PARAMS');
      await expectProblem(await page('format=csv&size=0', 'text/csv'), 'INVALID_REQUEST_PARAMS');
    });

    test('one record is available only as JSON', async () => {
      const one = await service.get(`/v1/subscription/${hostileRows[0]?.id}`, smallToken, { accept: 'text/csv' });
      await expectProblem(one, 'UNACCEPTABLE');
    });

    test('an empty page is the header row in CSV and nothing in NDJSON', async () => {
      const empty = (format: string) => page(`status=NONE&format=${format}`).then((response) => response.text());
      expect(await empty('csv')).toMatch(/^id,status,[^\n]*,auto_renew\r\n$/);
      expect(await empty('ndjson')).toBe('');
    });
  });

  test('CSV follows RFC 4180: CRLF after every line, equal numbers of cells, and no cell that starts like a formula', async () => {
    const { text } = await receive('all=true&format=csv');
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    // strict: fails if cells are missing
    const cells = parse(text, { record_delimiter: '\r\n' }) as string[][];
    expect(cells).toHaveLength(hostileRows.length + 1);
    expect(cells.flat().filter((cell) => /^[=+\-@\t\r＝＋－＠]/.test(cell))).toEqual([]);
    expect(cells.flat()).toContain("'=1+1");
    expect(cells.flat()).toContain("''=1");
  });

  test.each(['csv', 'ndjson'] as const)(
    'a report exported as %s and imported into another tenant is the same report',
    async (format) => {
      for (const [as, rows] of [
        [smallToken, hostileRows.map(rowOf)],
        [token, many.slice(0, 3_000)],
      ] as const) {
        const query =
          rows.length === 3_000 ? `&created-to=${new Date((many[3_000]?.createdDate ?? 0) * 1000).toISOString()}` : '';
        const { text } = await receive(`all=true&format=${format}${query}`, as);
        const copy = await service.createTenant(`copy-${format}-${rows.length}`);
        const source = (async function* () {
          yield Buffer.from(text);
        })();
        const rejected: object[] = [];
        const onRejected = (row: object): void => void rejected.push(row);
        await importRecords(service.store, copy, source, { format: format as ImportFormat, dryRun: false, onRejected });
        expect(rejected).toEqual([]);
        const stored = await service.store.readTenant(copy, (reader) =>
          reader.all('select record from subscription where tenant_id = $1 order by id', []),
        );
        const before = rows.filter(
          ({ createdDate }) => createdDate < (many[3_000]?.createdDate ?? 0) || rows.length < 3_000,
        );
        expect(stored.map(({ record }) => record)).toEqual(
          before.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ record }) => record),
        );
      }
    },
  );

  test('NDJSON ends with a summary of the lines before it, and the trailers state the same', async () => {
    const { status, headers, trailers, text } = await receive('all=true&format=ndjson', token);
    expect(status).toBe(200);
    const { body, summary } = summaryOf(text);
    expect(summary).toEqual({ rows: many.length, sha256: sha256(body) });
    expect(trailers).toEqual({ 'x-export-rows': String(many.length), 'x-export-sha256': summary.sha256 });
    expect(headers).toMatchObject({
      'x-total-count': String(many.length),
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="subscriptions.ndjson"',
      'x-applied-filters': 'date-field=created&sort=createdDate',
      'cache-control': 'private, no-store',
      trailer: 'X-Export-Rows, X-Export-SHA256',
    });
    for (const name of ['x-next-page', 'link', 'x-total-pages', 'content-length'])
      expect(headers[name]).toBeUndefined();
    const ids = body.trimEnd().split('\n').map(idOf);
    const expected = many
      .toSorted((a, b) => a.createdDate - b.createdDate || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    expect(ids).toEqual(expected);
  });

  test('CSV contains only records, and its trailers cover the whole body', async () => {
    const { trailers, text, sha256: received } = await receive('all=true&format=csv', token);
    expect(trailers).toEqual({ 'x-export-rows': String(many.length), 'x-export-sha256': received });
    expect(text.split('\r\n')).toHaveLength(many.length + 2);
  });

  test('CSV ends with the summary line if the client prefers it, and only then', async () => {
    const receivePreferring = async (prefer: string) =>
      finishExport(await begin('all=true&format=csv', token, service, { prefer }));
    const { headers, text } = await receivePreferring('respond-async, Export-Summary');
    const { body, summary } = summaryOf(text);
    expect(headers['preference-applied']).toBe('export-summary');
    expect(summary).toEqual({ rows: many.length, sha256: sha256(body) });
    const plain = await receivePreferring('respond-async');
    expect([plain.headers['preference-applied'], plain.text]).toEqual([undefined, body]);
  });

  test.each([
    ['status=ACTIVE&sort=-createdDate', (row: SubscriptionRow) => row.status === 'ACTIVE'],
    [
      'auto-renew=true&date-field=expiration&after=2026-01-01T00:00:00Z&sort=activationDate',
      (row: SubscriptionRow) => row.autoRenew === 'true' && row.expirationDate > until,
    ],
    ['status=NONE', () => false],
  ] as const)('filters and orders are those of the pages: %s', async (query, fits) => {
    const { headers, text } = await receive(`all=true&format=ndjson&${query}`, token);
    const { body, summary } = summaryOf(text);
    const expected = many.filter(fits);
    expect([summary.rows, headers['x-total-count']]).toEqual([expected.length, String(expected.length)]);
    const ids = body === '' ? [] : body.trimEnd().split('\n').map(idOf);
    expect(ids.toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
    const pages = (await (await service.get(`/v1/subscription?size=1000&${query}`, token)).json()) as Subscription[];
    expect(ids.slice(0, 1_000)).toEqual(pages.map(({ id }) => id));
  });

  test('a search can return the whole report, with the email in no header', async () => {
    const response = await fetch(`${service.baseUrl}/v1/subscription/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${smallToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'user3@example.com', all: true, format: 'ndjson' }),
    });
    expect(response.status).toBe(200);
    begun += 1;
    const { body, summary } = summaryOf(await response.text());
    expect([idOf(body), summary.rows]).toEqual([hostileRows[3]?.id, 1]);
    expect(JSON.stringify([...response.headers])).not.toContain('user3');
  });

  test('HEAD of a whole report has the headers of GET, no body, and holds no connection', async () => {
    for (const format of ['csv', 'ndjson']) {
      const head = await fetch(under(`all=true&format=${format}`), {
        method: 'HEAD',
        headers: { authorization: `Bearer ${token}` },
      });
      const full = await begin(`all=true&format=${format}`, token);
      expect(head.status).toBe(200);
      for (const name of [
        'content-type',
        'x-total-count',
        'content-disposition',
        'x-applied-filters',
        'vary',
        'content-length',
      ])
        expect([name, head.headers.get(name)]).toEqual([name, full.headers[name] ?? null]);
      full.destroy();
      await untilNone();
    }
  });

  test('a whole report over HTTP/1.0 has no trailers or chunks and ends with the connection', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET ${report}?all=true&format=ndjson HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer ${smallToken}\r\n\r\n`,
    );
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const [head = '', text = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 200 /);
    begun += 1;
    expect(head).not.toMatch(/trailer|transfer-encoding/i);
    const { body, summary } = summaryOf(text);
    expect(summary).toEqual({ rows: hostileRows.length, sha256: sha256(body) });
  });

  test('a whole report shows one snapshot, whatever is imported meanwhile', async () => {
    const own = await service.createTenant('moment');
    const ownToken = await service.accessToken(await clientOf(own));
    const rows = large.slice(0, 2_500);
    await load(service.store, own, rows);
    const response = await begin('all=true&format=ndjson', ownToken);
    const other = opened.openAgain();
    const changed = rows.slice(-500).map((row) => ({
      ...row,
      record: row.record.replace(/"status":"[A-Z]+"/, '"status":"LATER"'),
    }));
    await load(other, own, [...changed, ...many.slice(0, 500)]);
    const { text } = await finishExport(response);
    const { body, summary } = summaryOf(text);
    expect(summary).toEqual({ rows: rows.length, sha256: sha256(body) });
    expect(body.includes('LATER')).toBe(false);
    const after = summaryOf((await receive('all=true&format=ndjson', ownToken)).text);
    expect(after.summary.rows).toBe(rows.length + 500);
    expect(after.body.includes('LATER')).toBe(true);
  });

  describe('a reader', () => {
    test('a client that reads slowly gets the whole report', async () => {
      // a busy machine may stop a process for longer than a stall may be: then it reads again
      let read = await readSlowly();
      for (let tries = 1; read.hash === undefined && tries < 10; tries += 1) {
        await untilNone();
        read = await readSlowly();
      }
      expect(read.ms).toBeGreaterThan(2_000); // longer than a stall may be
      expect(read.trailer).toBe(read.hash ?? expect.unreachable());
    });

    /** Reads a report for three seconds in small pauses; without a hash if it was cut off. */
    async function readSlowly() {
      const response = await begin('all=true&format=csv', impatientToken, impatient);
      const hash = createHash('sha256');
      const began = performance.now();
      try {
        for await (const chunk of response) {
          hash.update(chunk as Buffer);
          if (performance.now() - began < 3_000) await sleep(5);
        }
      } catch {
        return { ms: performance.now() - began, hash: undefined, trailer: undefined };
      }
      const trailer = response.trailers['x-export-sha256'];
      return { ms: performance.now() - began, hash: hash.digest('hex'), trailer };
    }

    test('a client that stops reading is disconnected', async () => {
      const response = await begin('all=true&format=ndjson', impatientToken, impatient);
      await untilNone();
      const { rows, complete } = impatient.log.findLast(({ msg }) => msg === 'export') as Record<string, unknown>;
      expect(complete).toBe(false);
      expect(rows).toBeLessThan(large.length);
      await expect(finishExport(response)).rejects.toThrow(/aborted|ECONNRESET/);
      expect(response.complete).toBe(false);
    });

    test('a client that disconnects frees its slot and its connection to the store', async () => {
      for (let time = 0; time < 6; time += 1) {
        const response = await begin('all=true&format=csv');
        expect(response.statusCode).toBe(200);
        await once(response, 'readable');
        response.destroy();
        await untilNone();
      }
      expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    });
  });

  test('exports one after another never exceed the limit, as a report ends after its slot is free', async () => {
    const others = await Promise.all([begin('all=true&format=csv'), begin('all=true&format=csv', otherLargeToken)]);
    for (let time = 0; time < 20; time += 1) {
      expect((await receive('all=true&format=csv&status=NONE', largeToken)).status).toBe(200);
    }
    for (const response of others) response.destroy();
  });

  test('too many concurrent exports are rejected with Retry-After, of one client and of all', async () => {
    const first = await Promise.all([begin('all=true&format=csv'), begin('all=true&format=csv')]);
    expect(first.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    const one = await fetch(under('all=true&format=csv'), { headers: { authorization: `Bearer ${largeToken}` } });
    expect(one.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await expectProblem(one, 'TOO_MANY_REQUESTS')).messages[0]).toContain('at most 2 exports');
    const third = await begin('all=true&format=csv', otherLargeToken);
    expect(third.statusCode).toBe(200);
    const all = await fetch(under('all=true&format=csv'), { headers: { authorization: `Bearer ${smallToken}` } });
    expect(all.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await expectProblem(all, 'UNAVAILABLE');
    const head = await fetch(under('all=true&format=csv'), {
      method: 'HEAD',
      headers: { authorization: `Bearer ${smallToken}` },
    });
    expect(head.status).toBe(503);
    // pages are served meanwhile
    expect((await service.get('/v1/subscription?size=1', token)).status).toBe(200);
    for (const response of [...first, third]) response.destroy();
    await untilNone();
    expect((await receive('all=true&format=csv')).status).toBe(200);
  });

  test.runIf(engine === 'postgres')('a store that hangs aborts a report, and the next report succeeds', async () => {
    const response = await begin('all=true&format=ndjson', impatientToken, impatient);
    const pids = await withPostgres((client) =>
      client.query(
        "select pid from pg_stat_activity where application_name = 'subreport-export' and datname = current_database()",
      ),
    );
    const pid = Number(pids.rows[0]?.pid);
    process.kill(pid, 'SIGSTOP');
    try {
      await expect(finishExport(response)).rejects.toThrow(/aborted|ECONNRESET/);
      await eventually(() =>
        expect(impatient.log.findLast(({ msg }) => msg === 'export')).toMatchObject({ complete: false }),
      );
      expect((await receive('all=true&format=ndjson')).status).toBe(200);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test.runIf(engine === 'postgres')(
    'a lost connection to the store aborts a report and never shortens it',
    async () => {
      const response = await begin('all=true&format=ndjson');
      const killed = await withPostgres((client) =>
        client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'subreport-export' and datname = current_database()",
        ),
      );
      expect(killed.rowCount).toBe(1);
      await expect(finishExport(response)).rejects.toThrow(/aborted|ECONNRESET/);
      await untilNone();
      await untilFailed(service);
      expect((await receive('all=true&format=ndjson')).status).toBe(200);
    },
  );
});

test('truncating the file of the embedded store aborts a report in progress', async () => {
  const opened = await engines[0].openTestStore();
  const service = await startService(opened);
  try {
    const tenant = await service.createTenant('acme');
    await load(service.store, tenant, large);
    const token = await service.accessToken(await service.createClient(tenant));
    const file = join(opened.environment.DATA_DIR ?? '', 'subreport.db');
    const checkpoint = new DatabaseSync(file);
    checkpoint.exec('pragma wal_checkpoint(truncate)');
    checkpoint.close();
    const response = await openExport(`${service.baseUrl}/v1/subscription?all=true&format=ndjson`, token);
    truncateSync(file, 65_536);
    await expect(finishExport(response)).rejects.toThrow(/aborted|ECONNRESET/);
    await untilFailed(service);
  } finally {
    await service.close();
  }
});
