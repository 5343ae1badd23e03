import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvText } from '../../../../test/support/csv-text.ts';
import { drawPairs } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { countRecords } from '../../storage/counts/range.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

// two batches, of 1,000 and 3,000 rows
const count = 4_000;
const rows = [...syntheticRows({ count, seed: 5, until: 1_767_225_600 })];
// Every 700th row is invalid, and every 900th appears again with another status.
const lines = rows.flatMap((row, index) => [
  index % 700 === 699 ? { ...row, iccid: 'bad' } : row,
  ...(index % 900 === 899 ? [{ ...row, status: 'AGAIN' }] : []),
]);
const ndjson = `${lines.map((row) => JSON.stringify(row)).join('\n')}\n`;
const csv = csvText(lines);

const sources = [
  { file: 'rows.ndjson', bytes: Buffer.from(ndjson) },
  { file: 'rows.csv', bytes: Buffer.from(csv) },
  { file: 'rows.ndjson.gz', bytes: gzipSync(ndjson) },
  { file: 'rows.csv.zst', bytes: zstdCompressSync(Buffer.from(csv)) },
];

describe.each(engines)('an import into $engine that is killed', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let folder: string;
  const tenantOf = async (name: string) => {
    const tenant = (await findTenant(opened.store, name))?.tenant;
    if (tenant === undefined) throw new Error(`no tenant ${name}`);
    return tenant;
  };
  const all = async (name: string) =>
    opened.store.readTenant(await tenantOf(name), async (reader) => ({
      rows: await reader.all(
        'select id, created_date, status, product_id, email, record from subscription where tenant_id = $1 order by id',
      ),
      problems: (await checkCounts(reader)).problems,
    }));
  const argsOf = (tenant: string, file: string, ...options: string[]) => [
    ...['import', join(folder, file), '--tenant', tenant, '--json'],
    ...options,
  ];
  const run = (tenant: string, file: string, ...options: string[]) =>
    startCommand(argsOf(tenant, file, ...options), opened);
  const finish = async (tenant: string, file: string, ...options: string[]) => {
    const { code, stdout, stderr } = await runHere(argsOf(tenant, file, ...options), opened.environment);
    return { code, stderr, summary: stdout === '' ? undefined : JSON.parse(stdout) };
  };
  const recordsIn = async (tenant: string): Promise<number> => await countRecords(opened.store, await tenantOf(tenant));
  /** Kills an import once it has loaded its first batch. */
  const killAfterBatch = async (tenant: string, file: string): Promise<void> => {
    const running = run(tenant, file);
    while ((await recordsIn(tenant)) === 0 && running.child.exitCode === null) await sleep(5);
    await sleep(randomInt(30));
    running.child.kill('SIGKILL');
    await running.ended;
    expect(await recordsIn(tenant)).toBeGreaterThan(0);
  };

  beforeAll(async () => {
    opened = await openTestStore();
    folder = mkdtempSync(join(tmpdir(), 'subreport-killed-'));
    for (const { file, bytes } of sources) writeFileSync(join(folder, file), bytes);
    for (const file of ['rows.ndjson', 'rows.csv']) {
      await insertTenant(opened.store, file, 1);
      const { summary } = await finish(file, file, '--errors', join(folder, `${file}.errors`));
      writeFileSync(join(folder, `${file}.summary`), JSON.stringify(summary));
    }
  });
  afterAll(async () => {
    await opened.close();
    rmSync(folder, { recursive: true });
  });

  // an engine does not see in which format its rows were
  const drawn = drawPairs(engines, sources).filter(([other]) => other.engine === engine);
  test.each(drawn.map(([, source]) => source))(
    'and run again ends like one that was never stopped: $file',
    async ({ file }) => {
      const undisturbed = file.replace(/\.(gz|zst)$/, '');
      const killed = `killed-${file}`;
      await insertTenant(opened.store, killed, 1);
      const errors = join(folder, 'killed.errors');
      await killAfterBatch(killed, file);
      const { summary } = await finish(killed, file, '--errors', errors);
      const [{ rows: expected }, { rows: found, problems }] = [await all(undisturbed), await all(killed)];
      expect(found).toEqual(expected);
      expect(problems).toEqual([]);
      const { read, accepted, rejected } = JSON.parse(readFileSync(join(folder, `${undisturbed}.summary`), 'utf8'));
      expect(summary).toMatchObject({ read, accepted, rejected });
      expect(summary.unchanged).toBeGreaterThan(0);
      expect(readFileSync(errors, 'utf8')).toBe(readFileSync(join(folder, `${undisturbed}.errors`), 'utf8'));
      rmSync(errors);
    },
  );
});
