import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SubscriptionExport } from '../../client/index.ts';
import { changesOfFile } from './change-file.ts';
import { compareRecords } from './compare-records.ts';
import type { ChangedRows } from './destination.ts';
import { SyncError } from './error.ts';
import { claimFaults, differ, type Found, measuredFaults } from './file-claims.ts';
import { describeColumns } from './file-format.ts';
import type { FileStore } from './file-store.ts';
import { type CompleteRun, isIncrement, type Manifest, manifestsOf } from './manifest.ts';
import { Measured } from './measured.ts';
import { columns } from './record-row.ts';
import { SqliteTables } from './sqlite-table.ts';
import { TableCopy } from './table-copy.ts';
import { RecordLines } from './text-file.ts';
import { rowBatches } from './verify-copy.ts';

/** The files with which an increment is read, the whole report first and itself last. */
interface Chain {
  readonly runs: readonly CompleteRun[];
  /** What is not as the manifest of the increment has it. */
  readonly faults: readonly string[];
}

/** Finds the files of an increment, and compares what their manifests say of each other. */
export async function chainOf(files: FileStore, newest: CompleteRun): Promise<Chain> {
  const runs: CompleteRun[] = [];
  const faults: string[] = [];
  for (const [index, path] of newest.manifest.files.entries()) {
    const run = path === newest.manifest.files.at(-1) ? newest : await runOf(files, path);
    const found = run === undefined ? ['there is no manifest of it'] : linkFaults(run, runs.at(-1), newest, index);
    faults.push(...found.map((fault) => `${path}: ${fault}`));
    if (run !== undefined) runs.push(run);
  }
  return { runs, faults };
}

async function runOf(files: FileStore, path: string): Promise<CompleteRun | undefined> {
  const [folder = '', file] = path.split('/');
  return (await manifestsOf(files, folder)).find(({ manifest }) => manifest.file === file);
}

/** What a manifest says of the file before it and of the whole chain, and is not so. */
function linkFaults(run: CompleteRun, before: CompleteRun | undefined, newest: CompleteRun, index: number): string[] {
  const { manifest } = run;
  const kind = isIncrement(manifest) ? 'an increment' : 'a whole report';
  const faults = [
    ...differ('it is', kind, index === 0 ? 'a whole report' : 'an increment', 'its place in files'),
    ...differ('files', manifest.files.join(', '), newest.manifest.files.slice(0, index + 1).join(', '), 'newest'),
    ...differ('what it is of', ownerOf(manifest), ownerOf(newest.manifest), 'newest'),
  ];
  if (listedFault(run) !== undefined) faults.push(listedFault(run) as string);
  if (before === undefined) return faults;
  if (run.folder <= before.folder) faults.push(`it is not later than ${before.folder}`);
  if (manifest.report.revision <= before.manifest.report.revision)
    faults.push(`revision ${manifest.report.revision}, before it ${before.manifest.report.revision}`);
  return faults;
}

const listedFault = ({ listedBytes }: CompleteRun): string | undefined =>
  listedBytes === undefined ? 'there is no such file' : undefined;

const ownerOf = ({ format, values, report: { service, client_id, applied_filters } }: Manifest): string =>
  [format, values, service, client_id, applied_filters].join(' ');

/**
 * Applies the increments of a chain to its whole report, in a temporary file of SQLite, and
 * compares the records with those of the report. The files must exist.
 */
export async function replay(
  files: FileStore,
  runs: readonly CompleteRun[],
  report: SubscriptionExport | undefined,
): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'subreport-verify-'));
  const copy = new TableCopy(new SqliteTables(join(folder, 'copy.db'), true), 'copy');
  try {
    await copy.begin({ service: '', clientId: '' });
    const faults: string[] = [];
    for (const [index, run] of runs.entries())
      faults.push(...(await apply(files, copy, run, index === 0)).map((fault) => `${pathOf(run)}: ${fault}`));
    const newest = runs.at(-1) as CompleteRun;
    const rows = await copy.count();
    faults.push(...differ('records with all changes', rows, newest.manifest.report.rows));
    if (report === undefined) return { faults, unnamed: 0 };
    const names = columns.map(({ name }) => name);
    const found = await compareRecords(rowBatches(copy.rows()), new RecordLines(report, 'ndjson').batches(), names);
    return { faults: [...faults, ...found.named], unnamed: found.differences - found.named.length };
  } finally {
    await copy.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const pathOf = ({ folder, manifest }: CompleteRun): string => `${folder}/${manifest.file}`;

/** Applies a file to a copy. Returns what is wrong with the file. */
async function apply(files: FileStore, copy: TableCopy, run: CompleteRun, isWhole: boolean): Promise<string[]> {
  const { manifest } = run;
  const [stored, counts] = [new Measured(), { rows: 0, removals: 0 }];
  const faults: string[] = [];
  const changes = counted(
    changesOfFile(stored.of(files.read(pathOf(run))), manifest, (found) => {
      faults.push(...columnFaults(found, manifest));
    }),
    counts,
  );
  try {
    if (isWhole) await copy.resync({ token: '', revision: 0, rows: nothing, lines: nothing });
    for await (const found of changes) await copy.apply({ ...found, revision: manifest.report.revision });
  } catch (error) {
    const isNoRecord = error instanceof SyncError && (error.code === 'NOT_EQUAL' || /constraint/.test(error.message));
    if (!isNoRecord) throw error;
    return [...faults, `it must have records: ${error.message}`];
  }
  // otherwise compared with its manifest before
  if (isWhole) return differ('ids', await copy.count(), counts.rows, 'rows');
  return [
    ...claimFaults(run),
    ...faults,
    ...measuredFaults(stored, manifest),
    ...differ('rows', counts.rows, manifest.rows),
    ...differ('removals', counts.removals, manifest.removals),
  ];
}

/** `found`: the line of the column names, or names and types; none in NDJSON. */
const columnFaults = (found: string, { format, columns: claimed }: Manifest): string[] =>
  differ('columns', found, format === 'parquet' ? describeColumns(claimed) : claimed.map(({ name }) => name).join(','));

async function* counted(
  batches: AsyncIterable<ChangedRows>,
  counts: { rows: number; removals: number },
): AsyncGenerator<ChangedRows, void, undefined> {
  for await (const found of batches) {
    counts.rows += found.rows.length + found.removed.length;
    counts.removals += found.removed.length;
    yield found;
  }
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}
