import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { ndjsonOf } from '../../packages/service/cli/store/generate-command.ts';
import { type SyntheticRow, syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { TenantId } from '../../packages/service/storage/store.ts';
import { insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { drawQuery, seeded } from '../any/draw.ts';
import { type BenchStore, databaseSeconds, emptyStore, openBenchOf } from '../support/bench-store.ts';
import { until } from '../support/data-set.ts';
import { exactCpuSeconds } from '../support/exact-cpu.ts';
import { runMeasured, type Used } from '../support/measured-command.ts';
import { startOurs } from '../support/our-service.ts';
import { databaseFacts, machineFacts, printSection } from '../support/results.ts';
import { residentMib } from './process-tree.ts';
import { measureSize } from './storing.ts';

// A single tenant with many records: what each work on it takes. On Linux only. The store is in
// `TMPDIR`: 3 KB for each record, with the backup and the restored store; 1 KB without copies.
//   npm run bench -- large --records 100000 --sample 20
//   npm run bench -- large --records 10000000 --records 30000000 --copied 10000000 --engine SQLite
//   npm run bench -- large --records 300000 --engine Citus     on a coordinator and two workers
//   npm run bench -- large --records 30000000 --minutes 60    loads what it can in an hour

const { values } = parseArgs({
  options: {
    // measured at each of these numbers, which ascend
    records: { type: 'string', multiple: true, default: ['1000000'] },
    // with more records, backup and restore are left out
    copied: { type: 'string', default: '1000000000' },
    minutes: { type: 'string', default: '1440' },
    sample: { type: 'string', default: '100' },
    engine: { type: 'string', multiple: true, default: ['SQLite', 'PostgreSQL'] },
  },
});
const sizes = values.records.map(Number);
const most = Math.max(...sizes);
const loadEndsAt = performance.now() + Number(values.minutes) * 60_000;
const tenant = 'bench' as TenantId;
const base = '/connect-api/v1/subscription';

interface Measured extends Partial<Used> {
  readonly work: string;
  readonly note?: string;
}

/** The records of a tenant, from the oldest to the newest; each step takes the next ones. */
const allRows = (): Generator<SyntheticRow> => syntheticRows({ count: most, seed: 1, until });

interface Tenant {
  readonly rows: Generator<SyntheticRow>;
  /** How many are loaded. */
  records: number;
}

function* nextRows(loaded: Tenant, size: number): Generator<SyntheticRow> {
  while (loaded.records < size && performance.now() < loadEndsAt) {
    const { value, done } = loaded.rows.next();
    if (done === true) return;
    loaded.records += 1;
    yield value;
  }
}

/** Every hundredth record, with another device and another end. */
function* changedRows({ records }: Tenant): Generator<SyntheticRow> {
  let index = 0;
  for (const row of allRows()) {
    index += 1;
    if (index > records) return;
    if (index % 100 !== 0) continue;
    yield { ...row, device_id: `device-changed-${records}`, expirationDate: '2026-06-01T00:00:00Z' };
  }
}

async function measure(engine: string): Promise<void> {
  const store = await openBenchOf(engine);
  // by default, a tenant has at most some 14,500,000 records
  const opened = { ...store, environment: { ...store.environment, TENANT_STORAGE_MAX_MIB: '0' } };
  try {
    await insertTenant(opened.store, tenant, until);
    const loaded: Tenant = { rows: allRows(), records: 0 };
    for (const size of sizes) {
      const before = loaded.records;
      const measured = await measureStep(opened, loaded, size);
      printSection(engine, toMarkdown(measured, before, loaded.records, engine));
      if (loaded.records < size) break;
    }
  } finally {
    await opened.close();
  }
}

async function measureStep(opened: BenchStore, loaded: Tenant, size: number): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  const add = (row: Measured): void => {
    measured.push(row);
    console.error(new Date().toISOString(), JSON.stringify(row)); // a run takes hours
  };
  const load = async (work: string, rows: Iterable<SyntheticRow>): Promise<void> => {
    const args = ['import', '-', '--tenant', tenant, '--format', 'ndjson', '--json'];
    add({ work, ...(await runMeasured(opened, args, Readable.from(ndjsonOf(rows)))) });
  };
  await load('load', nextRows(loaded, size));
  const { records } = loaded;
  if (opened.serverPid !== undefined) await opened.administer('vacuum analyze');
  const loadedAt = new Date(Date.now() + 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await load('load of 1 % changed', changedRows(loaded));
  await measureService(opened, records, loadedAt, add);
  await measureCommands(opened, records, add);
  add({ work: 'size, with the history of 1 %', note: await describeSize(opened, records) });
  return measured;
}

async function describeSize(opened: BenchStore, records: number): Promise<string> {
  const { total, parts } = await measureSize(opened);
  const perRecord = (bytes: number): string => `${(bytes / records).toFixed(0)} bytes a record`;
  const ofParts = Object.entries(parts).map(([part, bytes]) => `${part} ${perRecord(bytes)}`);
  return `${perRecord(total)}: ${ofParts.join(', ')}`;
}

/** Measures requests; each is the first of its kind, so that no cache has its answer. */
async function measureService(
  opened: BenchStore,
  records: number,
  loadedAt: string,
  add: (row: Measured) => void,
): Promise<void> {
  const service = await startOurs(opened, [tenant], { REQUEST_SECONDS_MAX: '60' });
  const token = service.tokens.get(tenant) ?? '';
  const run = async (work: string, perform: () => Promise<string | undefined>): Promise<void> => {
    const [began, process, database] = [performance.now(), exactCpuSeconds(service.pid), databaseSeconds(opened)];
    const note = await perform();
    add({
      work,
      seconds: (performance.now() - began) / 1000,
      process: exactCpuSeconds(service.pid) - process,
      database: databaseSeconds(opened) - database,
      memoryMib: residentMib(service.pid),
      ...(note !== undefined && { note }),
    });
  };
  const read = (path: string) => readAll(service.port, path, token);
  try {
    await read(`${base}?size=1`);
    await run('page 1', async () => `${(await read(`${base}?size=50`)).bytes} bytes`);
    await run(
      'last page',
      async () => `${(await read(`${base}?size=50&page=${Math.ceil(records / 50)}`)).bytes} bytes`,
    );
    const random = seeded(23);
    await run(`${values.sample} random questions`, async () => {
      const ms: number[] = [];
      while (ms.length < Number(values.sample)) {
        const { kind, text } = drawQuery(random);
        const began = performance.now();
        const { status } = await read(`${base}${kind === 'summary' ? '/summary' : ''}?${text}`);
        if (status === 400) continue;
        if (status !== 200) console.error(`${status}: ${decodeURIComponent(text)}`);
        ms.push(performance.now() - began);
      }
      ms.sort((a, b) => a - b);
      const at = (share: number): string => (ms[Math.floor((ms.length - 1) * share)] ?? 0).toFixed(0);
      return `by the clock: median ${at(0.5)} ms, 90 % ${at(0.9)}, worst ${at(1)}`;
    });
    await run('export', async () => `${(await read(`${base}?all=true&format=ndjson`)).bytes} bytes`);
    await run('changes/summary', async () => (await read(`${base}/changes/summary?since=${loadedAt}`)).start);
    await run(
      'summary as of the first load',
      async () => (await read(`${base}/summary?by=status&as-of=${loadedAt}`)).start,
    );
    await run(
      'export as of the first load',
      async () => `${(await read(`${base}?all=true&format=ndjson&as-of=${loadedAt}`)).bytes} bytes`,
    );
  } finally {
    await service.stop();
  }
}

interface Answer {
  readonly status: number | undefined;
  readonly bytes: number;
  /** The beginning of the body. */
  readonly start: string;
}

/** Reads a response without keeping it. */
const readAll = (port: number, path: string, token: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' };
    get({ host: '127.0.0.1', port, path, headers }, (response) => {
      let [bytes, start] = [0, ''];
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (start.length < 200) start = (start + chunk.toString()).slice(0, 200).replaceAll('\n', ' ');
      });
      response.on('end', () => resolve({ status: response.statusCode, bytes, start }));
      response.on('error', reject);
    }).on('error', reject);
  });

async function measureCommands(opened: BenchStore, records: number, add: (row: Measured) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-bench-copies-'));
  const backup = join(folder, 'backup.db');
  const run = async (work: string, args: readonly string[], environment = opened.environment): Promise<void> => {
    const { output: _, ...used } = await runMeasured({ ...opened, environment }, args);
    add({ work, ...used });
  };
  try {
    await run('doctor', ['doctor', '--json']);
    await run('migrate, with nothing to do', ['migrate', '--json']);
    if (records > Number(values.copied)) return;
    await run('backup', ['backup', backup, '--json']);
    add({ work: 'size of the backup', note: `${(statSync(backup).size / records).toFixed(0)} bytes a record` });
    await run('restore', ['restore', backup, '--json'], await emptyStore(opened, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toMarkdown(measured: readonly Measured[], before: number, records: number, engine: string): string {
  const cell = (value: number | undefined): string => value?.toPrecision(3) ?? '-';
  const header = ['work', 's', 'CPU s of the process', 'CPU s of PostgreSQL', 'MiB of the process', ''];
  const rows = measured.map((each) => [
    each.work,
    ...[each.seconds, each.process, each.database, each.memoryMib].map(cell),
    each.note ?? '',
  ]);
  const lines = [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [
    `${records} records of one tenant, ${records - before} of them by this load; ${new Date().toISOString().slice(0, 10)}; ${machineFacts(databaseFacts(engine))}.`,
    '',
    ...lines,
  ].join('\n');
}

for (const engine of values.engine) await measure(engine);
