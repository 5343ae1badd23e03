import { randomBytes } from 'node:crypto';
import { CompressionStream, ReadableStream, type ReadableWritablePair } from 'node:stream/web';
import { csvOfExport } from './csv-file.ts';
import type { SourceIdentity } from './destination.ts';
import { SyncError } from './error.ts';
import { type CsvValues, columnsOf, type SnapshotFormat } from './file-format.ts';
import type { FileStore } from './file-store.ts';
import { ifRefused, readLatest, updateLatest } from './latest-file.ts';
import {
  completeRunOf,
  folderOf,
  type Manifest,
  manifestName,
  manifestText,
  newestRun,
  requireQuestion,
  requireSource,
} from './manifest.ts';
import { Measured } from './measured.ts';
import type { Question } from './question.ts';
import { cancelIfFailed, type Source } from './read-source.ts';
import { removeOlderRuns } from './remove-runs.ts';
import { requireCount, requireRevision } from './run-sync.ts';
import { requireNotYetToCome } from './yet-to-come.ts';

interface SnapshotOptions {
  readonly format: SnapshotFormat;
  readonly values: CsvValues;
  /** The instant of the run. */
  readonly scheduledFor: Date;
  /** What the file has; the whole report if it is absent. */
  readonly question?: Question;
  /** Older runs than this are removed; all are kept if it is absent. */
  readonly keepSeconds?: number | undefined;
  readonly signal?: AbortSignal;
}

export interface SnapshotResult {
  readonly manifest: Manifest;
  /** The file in messages. */
  readonly place: string;
  /** Whether another run for the instant had written it. */
  readonly wasComplete: boolean;
  /** Why the place could not be read: other files of it are then unknown. */
  readonly unread?: string;
  /** Why `latest.json` could not be replaced. */
  readonly notLatest?: string;
  /** Number of older runs that were removed. */
  readonly removed?: number;
}

/**
 * Writes the whole report to a new file of a place, and its manifest after it. The manifest is
 * written only when the service's count and digest agree with the file, and all of it is stored. A
 * run whose instant has a manifest does nothing. Throws `SyncError`, or an error of the client
 * library; the run then counts for nothing.
 *
 * No run locks a place: names have a random part, so no two runs write to one file. If two runs for
 * one instant overlap, one finds the manifest of the other before it writes its own, or both are
 * complete and the last by name counts.
 */
export async function runSnapshot(source: Source, files: FileStore, options: SnapshotOptions): Promise<SnapshotResult> {
  const before = await lookAt(files, () => findComplete(source, files, options));
  if (before.found !== undefined) return endRun(source, files, options, { manifest: before.found, wasComplete: true });
  const ended = await writeRun(source, files, options, randomBytes(8).toString('hex'));
  const unread = before.unread ?? ended.unread;
  return endRun(source, files, options, { ...ended, ...(unread && { unread }) });
}

/** Writes the file of a run, and its manifest unless another run was faster. */
async function writeRun(
  source: Source,
  files: FileStore,
  options: SnapshotOptions,
  run: string,
): Promise<Omit<SnapshotResult, 'place'>> {
  const folder = folderOf(options.scheduledFor);
  const file = `subscriptions-${run}.${options.format}`;
  const { manifest, found, unread } = await writeFile(source, files, options, file);
  if (found !== undefined) await files.discard(`${folder}/${file}`);
  // if this fails, the file stays: the manifest may be stored all the same
  else await files.write(`${folder}/${manifestName(run)}`, [Buffer.from(manifestText(manifest))]);
  return { manifest: found ?? manifest, wasComplete: found !== undefined, ...(unread && { unread }) };
}

/** Does what follows a complete run; a run that is repeated for its instant does it again. */
async function endRun(
  source: Source,
  files: FileStore,
  { keepSeconds }: SnapshotOptions,
  ended: Omit<SnapshotResult, 'place'>,
): Promise<SnapshotResult> {
  const { manifest } = ended;
  const notLatest = await updateLatest(files, manifest);
  const removed = keepSeconds && (await removeOlderRuns(files, source, { manifest, keepSeconds }));
  const place = `${files.shown}/${manifest.files.at(-1)}`;
  return { ...ended, place, ...(notLatest && { notLatest }), ...(removed !== undefined && { removed }) };
}

/** Writes the file of a run, and looks for another run that was faster. */
async function writeFile(source: Source, files: FileStore, options: SnapshotOptions, file: string) {
  const folder = folderOf(options.scheduledFor);
  try {
    const manifest = await copyReport(source, files, options, file);
    const looked = await lookAt(files, () => findOther(source, files, manifest, options));
    return { manifest, ...looked };
  } catch (error) {
    await files.discard(`${folder}/${file}`).catch(() => undefined); // `error` is the one to report
    throw error;
  }
}

/** Looks at a place that the run may have no right to read. */
async function lookAt<T>(
  { shown }: FileStore,
  look: () => Promise<T>,
): Promise<{ readonly found?: T; readonly unread?: string }> {
  try {
    return { found: await look() };
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'DESTINATION_UNREADABLE') throw error;
    return { unread: `${error.message}. So earlier files in ${shown} were not looked at` };
  }
}

/** Returns what an earlier run wrote for the instant. Throws if the place has other files. */
async function findComplete(source: Source, files: FileStore, options: SnapshotOptions): Promise<Manifest | undefined> {
  await readLatest(files);
  const own = await completeRunOf(files, folderOf(options.scheduledFor));
  if (own !== undefined) {
    requireSame(source, files, own.manifest, options);
    return own.manifest;
  }
  const newest = await newestRun(files);
  if (newest !== undefined) requireOwn(source, files, newest.manifest, options);
  return undefined;
}

/** Throws unless a manifest is of this source and this question. */
function requireOwn(source: Source, files: FileStore, manifest: Manifest, { question }: SnapshotOptions): void {
  requireSource(files, manifest, source);
  requireQuestion(files, manifest, question);
}

/** Throws unless the manifest of this instant is what this run writes, in its format too. */
function requireSame(source: Source, files: FileStore, manifest: Manifest, options: SnapshotOptions): void {
  requireOwn(source, files, manifest, options);
  const [wanted, found] = [formatText(options), formatText(manifest)];
  if (found === wanted) return;
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot write ${wanted} for ${manifest.scheduled_for} to ${files.shown}: a place must have one format for an instant; use another place, such as dir:/var/exports/${options.format}: current value is ${found}`,
  );
}

const formatText = ({ format, values }: Pick<Manifest, 'format' | 'values'>): string =>
  values === 'raw' ? format : `${format} for spreadsheets`;

/**
 * Returns what another run wrote meanwhile. Throws if that is not what this one writes, or if the
 * file of this one is not whole.
 */
async function findOther(
  source: Source,
  files: FileStore,
  { file, bytes }: Manifest,
  options: SnapshotOptions,
): Promise<Manifest | undefined> {
  const folder = folderOf(options.scheduledFor);
  await requireStored(files, folder, file, bytes);
  const other = (await completeRunOf(files, folder))?.manifest;
  if (other !== undefined) requireSame(source, files, other, options);
  return other;
}

/** Throws if a list of the folder says that a file is missing, or not whole. */
async function requireStored(files: FileStore, folder: string, file: string, bytes: number): Promise<void> {
  const stored = (await files.list(folder)).get(file);
  if (stored !== bytes && stored !== -1)
    throw new SyncError(
      'DESTINATION_FAILED',
      `Cannot complete ${files.shown}/${folder}/${file}: the whole file must be stored, ${bytes} bytes: current value is ${stored ?? 'no file'}`,
    );
}

async function copyReport(source: Source, files: FileStore, options: SnapshotOptions, file: string): Promise<Manifest> {
  const { format, values, scheduledFor, question, signal } = options;
  const sent = format === 'parquet' ? 'parquet' : 'ndjson';
  const call = signal === undefined ? {} : { signal };
  const report = await source.client.export({ ...question?.query }, { format: sent, ...call });
  const [exported, written] = [new Measured(), new Measured()];
  const { revision, rows } = await cancelIfFailed(report, async () => {
    requireNotYetToCome(scheduledFor, report.headers);
    const found = { revision: requireRevision(report.headers), rows: requireCount(report.headers) };
    const bytes = exported.of(report);
    const content = format.startsWith('csv') ? csvOfExport(bytes, values) : bytes;
    const stored = format.endsWith('.gz') ? gzip(content) : content;
    await files.write(`${folderOf(scheduledFor)}/${file}`, written.of(stored));
    return found;
  });
  return {
    schema_version: 1,
    file,
    files: [`${folderOf(scheduledFor)}/${file}`],
    format,
    values,
    columns: columnsOf(format),
    rows,
    bytes: written.bytes,
    sha256: written.sha256,
    report: {
      service: source.service,
      client_id: source.clientId,
      revision,
      sha256: exported.sha256,
      applied_filters: report.headers.get('x-applied-filters') ?? '',
      ...(question && { question: question.text, query: question.query }),
    },
    scheduled_for: scheduledFor.toISOString().replace(/\.\d{3}/, ''),
    completed_at: new Date().toISOString(),
  };
}

/** Compresses a stream; an error of the source is the error of the result. */
const gzip = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  ReadableStream.from(chunks).pipeThrough(
    new CompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>,
  );

/** What a check of a destination of files has tried. */
interface PlaceCheck {
  /** The file that was written, relative to the destination. */
  readonly written: string;
  /** Whether it could be removed: the right to write is enough for a run. */
  readonly wasRemoved: boolean;
  /** Why it could not be read: whether it has the file, and which others, is then unknown. */
  readonly unread?: string;
  /** Why it could not be replaced, as `latest.json` is. */
  readonly notReplaced?: string;
}

/**
 * Writes a small file to a folder of its own, looks for it, replaces it, and removes both; without
 * `keeps`, the right to write is enough. Throws `SyncError` if the destination has files of another
 * source, or does not store the file.
 */
export async function checkPlace(
  source: SourceIdentity,
  files: FileStore,
  { keeps }: { readonly keeps: boolean },
): Promise<PlaceCheck> {
  const before = await lookAt(files, async () => {
    const newest = await newestRun(files);
    if (newest !== undefined) requireSource(files, newest.manifest, source);
    return readLatest(files);
  });
  const [folder, file] = [`subreport-check-${randomBytes(8).toString('hex')}`, 'check.txt'];
  const written = `${folder}/${file}`;
  const content = Buffer.from('written by subreport sync check: it can be removed\n');
  await files.write(written, [content]);
  const after = await lookAt(files, async () => {
    await requireStored(files, folder, file, content.length);
    return undefined;
  });
  const unread = before.unread ?? after.unread;
  const notReplaced = (await files.replace(written, content.toString()).catch(ifRefused))?.message;
  const wasRemoved = await files.removeWithFolder(written);
  if (keeps && (unread !== undefined || !wasRemoved))
    throw new SyncError(
      'DESTINATION_INVALID',
      `Cannot use --keep with ${files.shown}: this user must be able to list, read and remove files; without --keep, the right to write is enough: current value is ${unread ?? `${written}, which could not be removed`}`,
    );
  return { written, wasRemoved, ...(unread !== undefined && { unread }), ...(notReplaced && { notReplaced }) };
}
