import { createHash, type Hash } from 'node:crypto';
import type { SubscriptionExport } from '../../../client/index.ts';
import { printable } from '../../../terminal/printable.ts';
import { type Comparison, compareRecords } from '../source/compare-records.ts';
import { SyncError } from '../source/error.ts';
import { Measured } from '../source/measured.ts';
import { exportAt, linesOf, type Source } from '../source/read-source.ts';
import { fieldNamesOf } from './file-format.ts';
import type { FileStore } from './file-store.ts';
import { type CompleteRun, claimFaults, differ, type Manifest, requireSource, runsOf } from './manifest.ts';
import { linesOfText } from './text-file.ts';

/** A complete file, read again. */
export interface VerifiedFile {
  readonly manifest: Manifest;
  /** The file in messages. */
  readonly place: string;
  /** What is not as the manifest or the report has it. */
  readonly faults: readonly string[];
  /** Number of faults, with those of records that are not named. */
  readonly faultCount: number;
  /** Why the file was not compared with the report; `undefined` if it was. */
  readonly notCompared?: string;
}

/** What a file has that its manifest or the report does not have. */
interface Found {
  readonly faults: readonly string[];
  /** Differences of records that are not in `faults`. */
  readonly unnamed: number;
}

/** What `verify` found in a place of files. */
interface VerifiedPlace {
  /** The files that were read, newest first. */
  readonly files: readonly VerifiedFile[];
  /** Folders of later runs than the newest complete file, which have no manifest. */
  readonly unfinished: readonly string[];
}

interface VerifyOptions {
  /** Whose report the files have. Without it, they are compared with their manifests only. */
  readonly source?: Source | undefined;
  /** Whether to read all complete files, not only the newest. */
  readonly all?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Compares the newest file of a place with its manifest, and each record with the report at its
 * revision. Throws `SyncError` `NOT_EQUAL` if there is no file, `OTHER_SOURCE` if it is of another
 * client or service.
 */
export async function verifyFiles(files: FileStore, options: VerifyOptions): Promise<VerifiedPlace> {
  const verified: VerifiedFile[] = [];
  const unfinished: string[] = [];
  for await (const { folder, run } of runsOf(files)) {
    if (run !== undefined) verified.push(await verifyRun(files, run, options));
    else if (verified.length === 0) unfinished.push(folder);
    if (verified.length > 0 && options.all !== true) break;
  }
  if (verified.length > 0) return { files: verified, unfinished };
  throw new SyncError(
    'NOT_EQUAL',
    `Cannot verify ${files.shown}: it must have a complete file: run 'subreport sync' first`,
  );
}

async function verifyRun(files: FileStore, run: CompleteRun, options: VerifyOptions): Promise<VerifiedFile> {
  const { folder, manifest, listedBytes } = run;
  if (options.source !== undefined) requireSource(files, manifest, options.source);
  const of = { manifest, place: `${files.shown}/${folder}/${manifest.file}` };
  const claims = claimFaults(run);
  if (listedBytes === undefined) {
    const faults = [...claims, 'there is no such file'].map(printable);
    return { ...of, faults, faultCount: faults.length };
  }
  const { report, notCompared } = await openReport(manifest, options);
  try {
    const found = await readFile(files, `${folder}/${manifest.file}`, manifest, report);
    const others = report === undefined ? [] : filterFaults(manifest, report);
    const faults = [...claims, ...found.faults, ...others].map(printable);
    return { ...of, faults, faultCount: faults.length + found.unnamed, ...(notCompared && { notCompared }) };
  } finally {
    await report?.cancel().catch(() => undefined); // it was read to its end
  }
}

/** The report at the revision of a file, or why there is none. */
async function openReport(
  { report: { revision } }: Manifest,
  { source, signal }: VerifyOptions,
): Promise<{ readonly report?: SubscriptionExport; readonly notCompared?: string }> {
  if (source === undefined) return { notCompared: 'no service is given' };
  try {
    return { report: await exportAt(source, revision, signal === undefined ? {} : { signal }) };
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'REVISION_GONE') throw error;
    return { notCompared: error.message };
  }
}

/** Reads a file once: its size and hash, its records, and beside them those of the report. */
async function readFile(
  files: FileStore,
  name: string,
  manifest: Manifest,
  report: SubscriptionExport | undefined,
): Promise<Found> {
  const [stored, exported] = [new Measured(), createHash('sha256')];
  const isParquet = manifest.format === 'parquet';
  const read = isParquet ? (await import('./parquet-file.ts')).linesOfParquet : linesOfText;
  const faults: string[] = [];
  try {
    const lines = hashed(read(stored.of(files.read(name)), manifest, faults), exported);
    const found = await compare(lines, report, manifest);
    const sha256 = isParquet ? stored.sha256 : exported.digest('hex');
    const measured = [...measuredFaults(stored, manifest), ...differ('rows', found.copyRows, manifest.rows)];
    const claimed = differ('report.sha256', sha256, manifest.report.sha256);
    const unnamed = found.differences - found.named.length;
    return { faults: [...measured, ...claimed, ...faults, ...found.named], unnamed };
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'NOT_EQUAL') throw error;
    const all = new Measured();
    for await (const _chunk of all.of(files.read(name)));
    return { faults: [...measuredFaults(all, manifest), error.message], unnamed: 0 };
  }
}

/** The same lines; `hash` gets them as the export has them. */
async function* hashed(
  batches: AsyncIterable<readonly string[]>,
  hash: Hash,
): AsyncGenerator<readonly string[], void, undefined> {
  for await (const lines of batches) {
    hash.update(lines.map((line) => `${line}\n`).join(''));
    yield lines;
  }
}

/** Compares records with those of the report, or only counts them. */
async function compare(
  own: AsyncIterable<readonly string[]>,
  report: SubscriptionExport | undefined,
  { format }: Manifest,
): Promise<Comparison> {
  if (report !== undefined) return compareRecords(own, linesOf(report), fieldNamesOf(format));
  let copyRows = 0;
  for await (const lines of own) copyRows += lines.length;
  return { copyRows, reportRows: 0, differences: 0, named: [] };
}

/** What a manifest says of filters, and the report does not. */
function filterFaults({ report: { applied_filters: claimed } }: Manifest, { headers }: SubscriptionExport): string[] {
  const applied = new URLSearchParams(headers.get('x-applied-filters') ?? '');
  applied.delete('as-of');
  if (new URLSearchParams(claimed).toString() === applied.toString()) return [];
  return [`report.applied_filters '${claimed}', report '${applied}'`];
}

/** What the bytes of a file do not have in common with its manifest. */
const measuredFaults = (found: Measured, manifest: Manifest): string[] => [
  ...differ('bytes', found.bytes, manifest.bytes),
  ...differ('sha256', found.sha256, manifest.sha256),
];
