import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvText } from '../../../../test/support/csv-text.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { writeSummaryLine } from '../../../contract/report.ts';
import { Spool } from '../../import/spool.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

// more rows than a batch has
const rows = [...syntheticRows({ count: 2_500, seed: 4, until: 1_767_225_600 })];
const csv = csvText(rows);
const ndjson = rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** A body as it arrives. */
function* partsOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 16_384) yield body.subarray(at, at + 16_384);
}

/** Files that are broken after their first batches: name, bytes, and part of the sentence. */
const broken: readonly (readonly [name: string, bytes: Buffer, sentence: string])[] = [
  ['quote.csv', Buffer.from(`${csv}9,"never`), 'up to line 2502, it must be RFC 4180'],
  ['long-row.csv', Buffer.from(`${csv}${'x'.repeat(17_000)}\r\n`), 'up to line 2502, it must be RFC 4180'],
  ['cut.csv.gz', gzipSync(csv).subarray(0, -9), 'the gzip source must be complete'],
  ['half.csv.gz', gzipSync(csv).subarray(0, 60_000), 'the gzip source must be complete'],
  ['trailer.ndjson.gz', gzipSync(ndjson).subarray(0, -1), 'the gzip source must be complete'],
  ['header.ndjson.gz', gzipSync(ndjson).subarray(0, 9), 'the gzip source must be complete'],
  ['twice.ndjson.gz', Buffer.concat([gzipSync(ndjson), Buffer.from('rest')]), 'the gzip source must be complete'],
  ['cut.ndjson.zst', zstdCompressSync(Buffer.from(ndjson)).subarray(0, -3), 'the zstd source must be complete'],
  ['cut.ndjson', Buffer.from(ndjson + writeSummaryLine({ rows: 2_501, sha256: '0'.repeat(64) })), '2500 are present'],
];

describe.each(drawOne(engines, import.meta.url))('a load that lacks its end on $engine', ({ openTestStore }) => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await openTestStore(), { spool: new Spool(join(folder, 'spool'), 2 ** 24) });
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
  });
  afterAll(() => management.close());

  test.each(broken.flatMap((each) => ['', '?strict=true'].map((query) => [query, ...each] as const)))(
    'over HTTP%s changes nothing, and the history says why: %s',
    async (query, name, body, sentence) => {
      const tenant = `${name}${query.length}`.replaceAll('.', '-');
      await management.send('POST', '/operator/v1/tenants', { token, body: { tenant } });
      const response = await management.app.inject({
        method: 'PUT',
        url: `/operator/v1/tenants/${tenant}/subscriptions${query}`,
        headers: {
          authorization: `Bearer ${token}`,
          host: '127.0.0.1',
          'content-type': name.includes('.csv') ? 'text/csv' : 'application/x-ndjson',
        },
        body: Readable.from(partsOf(body)),
      });
      const { detail } = response.json();
      expect([response.statusCode, detail]).toEqual([400, expect.stringContaining(sentence)]);
      const { data } = (await management.send('GET', `/operator/v1/imports?limit=1&tenant=${tenant}`, { token })).body;
      expect(data[0]).toMatchObject({ result: 'failed', inserted: 0, error: detail });
      expect((await management.send('GET', `/operator/v1/tenants/${tenant}`, { token })).body).toMatchObject({
        records: 0,
        revision: 0,
      });
    },
  );
});

describe('a load that lacks its end, by command,', () => {
  const environment = { DATA_DIR: join(folder, 'data') };
  beforeAll(() => runHere(['tenant', 'create', 'acme'], environment));

  test.each(broken)('changes nothing: %s', async (name, bytes, sentence) => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    const { stderr, code } = await runHere(['import', file, '--tenant', 'acme'], environment);
    expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
    const piped = ['import', '-', '--format', name.includes('.csv') ? 'csv' : 'ndjson', '--tenant', 'acme'];
    expect((await runHere(piped, environment, bytes)).stderr).toBe(stderr);
    const { stdout } = await runHere(['tenant', 'list', '--json'], environment);
    expect(JSON.parse(stdout)).toMatchObject([{ records: 0, revision: 0, last_import: { result: 'failed' } }]);
  });
});
