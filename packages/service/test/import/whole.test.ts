import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvText } from '../../../../test/support/csv-text.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startManagement, type TestManagement } from '../../../../test/support/management.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { writeSummaryLine } from '../../../contract/report.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';

// more rows than a batch has
const rows = [...syntheticRows({ count: 2_500, seed: 4, until: 1_767_225_600 })];
const csv = csvText(rows);
const ndjson = rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Files that are broken after their first batches: name, bytes, and part of the sentence. */
const broken = [
  ['quote.csv', Buffer.from(`${csv}9,"never`), 'after line 2502, it must be RFC 4180'],
  ['cut.csv.gz', gzipSync(csv).subarray(0, -9), 'the gzip source must be complete'],
  ['cut.ndjson', Buffer.from(ndjson + writeSummaryLine({ rows: 2_501, sha256: '0'.repeat(64) })), '2500 are present'],
] as const;

describe.each(drawOne(engines, import.meta.url))('a load that lacks its end on $engine', ({ openTestStore }) => {
  let management: TestManagement;
  let token: string;
  beforeAll(async () => {
    management = await startManagement(await openTestStore());
    token = await management.operatorToken('operator:read', 'operator:write', 'subscription:write');
  });
  afterAll(() => management.close());

  test.each(broken)(
    'over HTTP says how many records are loaded, as the history does: %s',
    async (name, body, sentence) => {
      const tenant = name.replaceAll('.', '-');
      await management.send('POST', '/operator/v1/tenants', { token, body: { tenant } });
      const response = await management.app.inject({
        method: 'PUT',
        url: `/operator/v1/tenants/${tenant}/subscriptions`,
        headers: {
          authorization: `Bearer ${token}`,
          host: '127.0.0.1',
          'content-type': name.includes('.csv') ? 'text/csv' : 'application/x-ndjson',
          ...(name.endsWith('.gz') && { 'content-encoding': 'gzip' }),
        },
        body,
      });
      const { detail } = response.json();
      expect([response.statusCode, detail]).toEqual([400, expect.stringContaining(sentence)]);
      const loaded = Number(/; (\d+) records before it are loaded$/.exec(detail)?.[1]);
      const { data } = (await management.send('GET', `/operator/v1/imports?limit=1&tenant=${tenant}`, { token })).body;
      expect(data[0]).toMatchObject({ result: 'failed', inserted: loaded, error: detail });
      expect((await management.send('GET', `/operator/v1/tenants/${tenant}`, { token })).body.records).toBe(loaded);
    },
  );
});

describe('a load that lacks its end, by command,', () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const environment = { DATA_DIR: join(folder, 'data') };
  beforeAll(() => runHere(['tenant', 'create', 'acme'], environment));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(broken)('changes nothing: %s', async (name, bytes, sentence) => {
    const file = join(folder, name);
    writeFileSync(file, bytes);
    const { stderr, code } = await runHere(['import', file, '--tenant', 'acme'], environment);
    expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
    const { stdout } = await runHere(['tenant', 'list', '--json'], environment);
    expect(JSON.parse(stdout)).toMatchObject([{ records: 0, revision: 0, last_import: { result: 'failed' } }]);
  });
});
