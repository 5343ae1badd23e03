import { execFileSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { startCommand } from '../../../../test/support/run-command.ts';
import { runHere } from '../../../../test/support/run-here.ts';
import { csvColumns } from '../../import/csv-layout.ts';
import { type ImportOptions, importRecords } from '../../import/import-records.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { readResumePoint } from '../../storage/tables/resume-point.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

// three batches, of 1,000, 3,000 and 5,000 rows
const count = 9_000;
const rows = [...syntheticRows({ count, seed: 5, until: 1_767_225_600 })];
// Every 700th row is invalid, and every 900th appears again with another status.
const lines = rows.flatMap((row, index) => [
  index % 700 === 699 ? { ...row, iccid: 'bad' } : row,
  ...(index % 900 === 899 ? [{ ...row, status: 'AGAIN' }] : []),
]);
const ndjson = `${lines.map((row) => JSON.stringify(row)).join('\n')}\n`;
const csv = stringify(
  lines.map(({ product, ...row }) => ({
    ...row,
    ...Object.fromEntries(Object.entries(product).map(([name, value]) => [`product.${name}`, value])),
  })),
  { header: true, columns: [...csvColumns] },
);

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
  /** Starts an import that reads from a pipe, and does not end before the pipe is closed. */
  const runFromPipe = (tenant: string, file: string, bytes: Uint8Array, ...options: string[]) => {
    execFileSync('mkfifo', [join(folder, file)]);
    const running = run(tenant, file, ...options);
    const pipe = createWriteStream(join(folder, file));
    pipe.on('error', () => undefined);
    // all read except what the pipe and the row reader buffer
    const written = new Promise((resolve) => pipe.write(bytes, resolve));
    const kill = async (): Promise<void> => {
      running.child.kill('SIGKILL');
      await running.ended;
      pipe.destroy();
      rmSync(join(folder, file));
    };
    return { written, kill };
  };

  const rowsIn = async (tenant: string): Promise<number> =>
    (await readResumePoint(opened.store, await tenantOf(tenant)))?.read ?? 0;
  /** Kills an import that has batches after its first ones; returns how many rows it has loaded. */
  const killAfter = async (rowsBefore: number, tenant: string, file: string, ...options: string[]): Promise<number> => {
    const running = run(tenant, file, ...options);
    while ((await rowsIn(tenant)) <= rowsBefore && running.child.exitCode === null) await sleep(2);
    await sleep(randomInt(30));
    running.child.kill('SIGKILL');
    await running.ended;
    const loaded = await rowsIn(tenant);
    expect(loaded).toBeGreaterThan(rowsBefore);
    return loaded;
  };

  beforeAll(async () => {
    opened = await openTestStore();
    folder = mkdtempSync(join(tmpdir(), 'subreport-resume-'));
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
  const readSources = engine === 'sqlite' ? sources : sources.filter(({ file }) => /ndjson$|zst$/.test(file));
  test.each(readSources)('and resumed repeatedly ends like one that was never stopped: $file', async (source) => {
    const { file } = source;
    const undisturbed = file.replace(/\.(gz|zst)$/, '');
    const killed = `killed-${file}`;
    await insertTenant(opened.store, killed, 1);
    const errors = join(folder, 'killed.errors');
    let marked = 0;
    for (let kills = 0; kills < 2; kills += 1)
      marked = await killAfter(marked, killed, file, '--resume', '--errors', errors);
    const { summary } = await finish(killed, file, '--resume', '--errors', errors);
    expect(summary.resumed_from).toBe(marked);
    const [{ rows: expected }, { rows: found, problems }] = [await all(undisturbed), await all(killed)];
    expect(found).toEqual(expected);
    expect(problems).toEqual([]);
    const whole = JSON.parse(readFileSync(join(folder, `${undisturbed}.summary`), 'utf8'));
    const { read, accepted, rejected, inserted, updated, unchanged } = whole;
    expect(summary).toMatchObject({ read, accepted, rejected, inserted, updated, unchanged });
    expect(readFileSync(errors, 'utf8')).toBe(readFileSync(join(folder, `${undisturbed}.errors`), 'utf8'));
    expect(await rowsIn(killed)).toBe(0);
    rmSync(errors);
  });

  test('and begun in other batches, such as by the service, has the same records when it is resumed', async () => {
    // an id again in the second half of what is one batch by default
    const text = [...lines.slice(0, 600), { ...lines[400], status: 'AGAIN' }, ...lines.slice(600, 650)]
      .map((row) => `${JSON.stringify(row)}\n`)
      .join('');
    const load = async (name: string, source: readonly string[], options: Partial<ImportOptions>) =>
      importRecords(opened.store, await tenantOf(name), Readable.from(source.map((part) => Buffer.from(part))), {
        ...{ format: 'ndjson', dryRun: false, onRejected: () => undefined },
        ...options,
      });
    for (const name of ['one-batch', 'other-batches']) await insertTenant(opened.store, name, 1);
    const whole = await load('one-batch', [text], {});
    await expect(
      load('other-batches', [text.slice(0, text.length - 9_000)], {
        batchRowsMax: 500,
        onProgress: () => {
          throw new Error('stopped');
        },
      }),
    ).rejects.toThrow('stopped');
    const resumed = await load('other-batches', [text], { resume: true });
    expect(resumed).toMatchObject({ read: whole.read, accepted: whole.accepted, rejected: whole.rejected });
    expect((await all('other-batches')).rows).toEqual((await all('one-batch')).rows);
    // docs/operators/import.md: the first half was another batch
    expect([whole.inserted, whole.updated, resumed.inserted, resumed.updated]).toEqual([650, 0, 650, 1]);
  });

  test('is not resumed with another mapping of columns', async () => {
    await insertTenant(opened.store, 'mapped', 1);
    const tenant = await tenantOf('mapped');
    const load = async (mapping: ImportOptions['mapping'], resume: boolean, onProgress?: () => void) =>
      importRecords(opened.store, tenant, Readable.from([Buffer.from(csv)]), {
        ...{ format: 'csv', dryRun: false, onRejected: () => undefined, mapping, resume, batchRowsMax: 500 },
        ...(onProgress && { onProgress }),
      });
    const mappingOf = (name: string, other: string) => ({
      columns: { device_id: name, 'product.plan_id': other },
      constants: {},
    });
    const stop = (): never => {
      throw new Error('stopped');
    };
    await expect(load(mappingOf('device_id', 'product.plan_id'), false, stop)).rejects.toThrow('stopped');
    const resumePoint = await readResumePoint(opened.store, tenant);
    for (const mapping of [mappingOf('product.plan_id', 'device_id'), undefined])
      await expect(load(mapping, true)).rejects.toMatchObject({
        code: 'OTHER_SOURCE',
        message: expect.stringContaining('its columns were mapped otherwise'),
      });
    expect(await readResumePoint(opened.store, tenant)).toEqual(resumePoint);
    expect(await load(mappingOf('device_id', 'product.plan_id'), true)).toMatchObject({ read: lines.length });
  });

  test('is not resumed with another source, nor by a dry run', async () => {
    await insertTenant(opened.store, 'other', 1);
    const tenant = await tenantOf('other');
    await killAfter(1_000, 'other', 'rows.ndjson');
    const resumePoint = await readResumePoint(opened.store, tenant);
    const errors = join(folder, 'kept.ndjson');
    const written = '{"line":1}\n'.repeat(50); // more lines than the resumed import had written
    writeFileSync(errors, written);
    const changed = ndjson.replace('"createdDate"', ' "createdDate"');
    writeFileSync(join(folder, 'changed.ndjson'), changed);
    writeFileSync(join(folder, 'short.ndjson'), ndjson.slice(0, 5_000));
    for (const file of ['changed.ndjson', 'short.ndjson', 'rows.csv']) {
      const { code, stderr } = await finish('other', file, '--resume', '--errors', errors);
      expect([code, stderr]).toEqual([1, expect.stringContaining('Cannot resume the import')]);
    }
    expect(await readResumePoint(opened.store, tenant)).toEqual(resumePoint);
    expect(readFileSync(errors, 'utf8')).toBe(written);
    expect((await finish('other', 'rows.ndjson', '--resume', '--dry-run')).code).toBe(2);
    const { summary } = await finish('other', 'rows.ndjson', '--resume');
    expect(summary).toMatchObject({ resumed_from: resumePoint?.read, read: lines.length });
  });

  test('is resumed from standard input and past the summary lines of exports', async () => {
    await insertTenant(opened.store, 'whole', 1);
    const part = (text: string): string =>
      `${text}{"summary":{"rows":${text.split('\n').length - 1},"sha256":"${createHash('sha256').update(text).digest('hex')}"}}\n`;
    const text = (from: number, to: number): string =>
      rows
        .slice(from, to)
        .map(({ email: _email, ...row }) => `${JSON.stringify(row)}\n`)
        .join('');
    const whole = part(text(0, 1_500)) + part(text(1_500, count));
    writeFileSync(join(folder, 'whole.ndjson'), whole);
    const killed = await killAfter(1_500, 'whole', 'whole.ndjson');
    const args = ['import', '-', '--format', 'ndjson', '--tenant', 'whole', '--json', '--resume'];
    const { code, stdout } = await runHere(args, opened.environment, whole);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ read: count, inserted: count, resumed_from: killed }),
    ]);
  });

  test('was the only import into its tenant, and leaves no lock behind', async () => {
    await insertTenant(opened.store, 'locked', 1);
    await insertTenant(opened.store, 'free', 1);
    const { written, kill } = runFromPipe('locked', 'pipe.ndjson', Buffer.from(ndjson));
    await written;
    const refused = await finish('locked', 'rows.ndjson');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('another one is running')]);
    expect((await finish('locked', 'rows.ndjson', '--strict')).stderr).toContain('another one is running');
    expect((await finish('free', 'rows.ndjson')).code).toBe(1); // because rows were rejected
    await kill();
    expect((await finish('locked', 'rows.ndjson')).summary).toMatchObject({ read: lines.length });
  });
});
