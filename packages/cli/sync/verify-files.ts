import type { ExportOptions, SubscriptionExport } from '../../client/index.ts';
import { printable } from '../../terminal/printable.ts';
import { type Comparison, compareRecords, type RecordBatch } from './compare-records.ts';
import { ExportOfFile } from './csv-file.ts';
import { SyncError } from './error.ts';
import { claimFaults, differ, type Found, filterFaults, measuredFaults } from './file-claims.ts';
import { describeColumns, fieldNamesOf, flavorOf } from './file-format.ts';
import type { FileStore } from './file-store.ts';
import { checkLatest, type LatestCheck } from './latest-file.ts';
import { type CompleteRun, type Manifest, requireSource, runsOf } from './manifest.ts';
import { Measured } from './measured.ts';
import type { Source } from './read-source.ts';
import { gunzip, RecordLines } from './text-file.ts';
import { exportAt } from './verify-copy.ts';

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

/** What `verify` found in a place of files. */
interface VerifiedPlace {
  /** The files that were read, newest first. */
  readonly files: readonly VerifiedFile[];
  /** Folders of later runs than the newest complete file, which have no manifest. */
  readonly unfinished: readonly string[];
  /** What `latest.json` has, if that is not the newest manifest. */
  readonly latest: LatestCheck;
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
  let newest: CompleteRun | undefined;
  for await (const { folder, run } of runsOf(files)) {
    if (run !== undefined) verified.push(await verifyRun(files, run, options));
    else if (verified.length === 0) unfinished.push(folder);
    newest ??= run;
    if (verified.length > 0 && options.all !== true) break;
  }
  if (newest !== undefined) return { files: verified, unfinished, latest: await checkLatest(files, newest) };
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
  // Parquet is compared by its values: another version of the service may compress them otherwise
  const sent = manifest.format === 'parquet' ? 'ndjson' : sentFormat(manifest.format);
  const { report, notCompared } = await openReport(manifest, sent, options);
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
  { report: { revision, query } }: Manifest,
  sent: ExportOptions['format'],
  { source, signal }: VerifyOptions,
): Promise<{ readonly report?: SubscriptionExport; readonly notCompared?: string }> {
  if (source === undefined) return { notCompared: 'no service is given' };
  if (query?.['expires-within'] !== undefined)
    return { notCompared: 'what ends within a time depends on when the service is asked' };
  try {
    return { report: await exportAt(source, revision, sent, signal === undefined ? {} : { signal }, query) };
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'REVISION_GONE') throw error;
    return { notCompared: error.message };
  }
}

const sentFormat = (format: Manifest['format']): ExportOptions['format'] =>
  format.replace('.gz', '') as ExportOptions['format'];

/** Reads a file once: its size and hash, its records, and beside them those of the report. */
async function readFile(
  files: FileStore,
  name: string,
  manifest: Manifest,
  report: SubscriptionExport | undefined,
): Promise<Found> {
  const stored = new Measured();
  const bytes = stored.of(files.read(name));
  try {
    const found = await (manifest.format === 'parquet' ? readParquet : readText)(bytes, manifest, report);
    const faults = [...measuredFaults(stored, manifest), ...found.faults];
    return { faults, unnamed: found.unnamed };
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'NOT_EQUAL') throw error;
    const all = new Measured();
    for await (const _chunk of all.of(files.read(name)));
    return { faults: [...measuredFaults(all, manifest), error.message], unnamed: 0 };
  }
}

async function readText(
  bytes: AsyncIterable<Uint8Array>,
  manifest: Manifest,
  report: SubscriptionExport | undefined,
): Promise<Found> {
  const format = sentFormat(manifest.format) as 'csv' | 'ndjson';
  const [content, sent] = [new Measured(), new Measured()];
  const lines = manifest.format.endsWith('.gz') ? gunzip(bytes) : bytes;
  const csv = format === 'csv' ? new ExportOfFile(lines, flavorOf(manifest.values, manifest.report.query)) : undefined;
  const own = new RecordLines(content.of(csv ?? lines), format);
  const theirs = report && new RecordLines(sent.of(report), format);
  const found = await compare(own.batches(), theirs?.batches(), manifest);
  const faults = [
    ...differ('rows', found.copyRows, manifest.rows),
    ...differ('report.sha256', content.sha256, manifest.report.sha256),
    ...(csv === undefined ? [] : differ('columns', csv.header, namesOf(manifest))),
    ...found.named,
  ];
  // lines may be equal although bytes are not: a line feed at the end, bytes that are no text
  const isOther = report !== undefined && content.sha256 !== sent.sha256;
  if (isOther && faults.length === 0)
    faults.push(...differ('sha256 of its content', content.sha256, sent.sha256, 'report'));
  return { faults, unnamed: found.differences - found.named.length };
}

async function readParquet(
  bytes: AsyncIterable<Uint8Array>,
  manifest: Manifest,
  report: SubscriptionExport | undefined,
): Promise<Found> {
  const { ParquetFile } = await import('./parquet-file.ts');
  const file = await ParquetFile.store(bytes);
  try {
    const found = await compare(file.batches(), report && new RecordLines(report, 'ndjson').batches(), manifest);
    const faults = [
      ...differ('rows', found.copyRows, manifest.rows),
      ...differ('report.sha256', manifest.report.sha256, manifest.sha256, 'sha256'),
      ...differ('columns', describeColumns(file.columns), describeColumns(manifest.columns)),
      ...found.named,
    ];
    return { faults, unnamed: found.differences - found.named.length };
  } finally {
    await file.remove();
  }
}

const namesOf = ({ columns }: Manifest): string => columns.map(({ name }) => name).join(',');

/** Compares records with those of the report, or only counts them. */
async function compare(
  own: AsyncIterable<RecordBatch>,
  theirs: AsyncIterable<RecordBatch> | undefined,
  { format }: Manifest,
): Promise<Comparison> {
  if (theirs !== undefined) return compareRecords(own, theirs, fieldNamesOf(format));
  let copyRows = 0;
  for await (const { lines } of own) copyRows += lines.length;
  return { copyRows, reportRows: 0, differences: 0, named: [] };
}
