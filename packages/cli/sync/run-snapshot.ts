import { randomBytes } from 'node:crypto';
import { CompressionStream, ReadableStream, type ReadableWritablePair } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExportOptions, SubscriptionExport } from '../../client/index.ts';
import { fileOfChanges } from './change-file.ts';
import { countChanges } from './change-spool.ts';
import { fileOfExport } from './csv-file.ts';
import type { SourceIdentity } from './destination.ts';
import { SyncError } from './error.ts';
import { changeColumnsOf, columnsOf, flavorOf } from './file-format.ts';
import type { FileStore } from './file-store.ts';
import { type Increment, type IncrementOptions, planIncrement } from './increment.ts';
import { ifRefused, readLatest, updateLatest } from './latest-file.ts';
import {
  type CompleteRun,
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
import { cancelIfFailed, currentPosition, type Source } from './read-source.ts';
import { removeOlderRuns } from './remove-runs.ts';
import { requireCount, requireRevision } from './run-sync.ts';
import { requireNotYetToCome } from './yet-to-come.ts';

interface SnapshotOptions extends IncrementOptions {
  /** What the file has; the whole report if it is absent. */
  readonly question?: Question;
  /** Older runs than this are removed; all are kept if it is absent. */
  readonly keepSeconds?: number | undefined;
  /** Whether to write an increment, if one can follow the newest file. */
  readonly changes?: boolean;
}

export interface SnapshotResult {
  readonly manifest: Manifest;
  /** The file in messages. */
  readonly place: string;
  /** Whether another run for the instant had written it. */
  readonly wasComplete: boolean;
  /** Whether there were no changes since the newest file, whose manifest this is. */
  readonly isUnchanged?: boolean;
  /** Why the whole report was written, and no increment. */
  readonly whole?: string;
  /** Why the place could not be read: other files of it are then unknown. */
  readonly unread?: string;
  /** Why `latest.json` could not be replaced. */
  readonly notLatest?: string;
  /** Number of older runs that were removed. */
  readonly removed?: number;
}

/**
 * Writes the whole report, or the changes since the newest file, to a new file of a place, and its
 * manifest after it. The manifest is written only when the service's count and digest agree with
 * the file, and all of it is stored. A run whose instant has a manifest does nothing. Throws
 * `SyncError`, or an error of the client library; the run then counts for nothing.
 *
 * No run locks a place: names have a random part, so no two runs write to one file. If two runs for
 * one instant overlap, one finds the manifest of the other before it writes its own, or both are
 * complete and the last by name counts. An increment is discarded if a newer file exists when it is
 * stored.
 */
export async function runSnapshot(source: Source, files: FileStore, options: SnapshotOptions): Promise<SnapshotResult> {
  const before = await lookAt(files, () => findComplete(source, files, options));
  const { own, newest } = before.found ?? {};
  if (own !== undefined) return endRun(source, files, options, { manifest: own.manifest, wasComplete: true });
  if (options.changes === true && before.unread !== undefined) throw unreadable(before.unread);
  const plan = options.changes === true ? await planIncrement(source, files, newest, options) : undefined;
  if (plan !== undefined && 'unchanged' in plan)
    return endRun(source, files, options, { manifest: plan.unchanged, wasComplete: false, isUnchanged: true });
  const increment = plan !== undefined && 'increment' in plan ? plan.increment : undefined;
  try {
    const run = randomBytes(8).toString('hex');
    const ended = await writeRun(source, files, options, run, increment);
    const unread = before.unread ?? ended.unread;
    const whole = plan !== undefined && 'whole' in plan && !ended.wasComplete ? plan.whole : undefined;
    return await endRun(source, files, options, { ...ended, ...(unread && { unread }), ...(whole && { whole }) });
  } finally {
    await increment?.changes.remove();
  }
}

const unreadable = (unread: string): SyncError =>
  new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --changes: this user must be able to list and read files; without --changes, the right to write is enough: current value is ${unread}`,
  );

/** Writes the file of a run, and its manifest unless another run was faster. */
async function writeRun(
  source: Source,
  files: FileStore,
  options: SnapshotOptions,
  run: string,
  increment: Increment | undefined,
): Promise<Omit<SnapshotResult, 'place'>> {
  const folder = folderOf(options.scheduledFor);
  const file = `${increment === undefined ? 'subscriptions' : 'changes'}-${run}.${options.format}`;
  const { manifest, found, unread } = await writeFile(source, files, options, file, increment);
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
async function writeFile(
  source: Source,
  files: FileStore,
  options: SnapshotOptions,
  file: string,
  increment: Increment | undefined,
) {
  const folder = folderOf(options.scheduledFor);
  try {
    const manifest = await (increment === undefined
      ? copyReport(source, files, options, file)
      : copyChanges(files, options, file, increment));
    const looked = await lookAt(files, () => findOther(source, files, manifest, options));
    if (increment !== undefined && looked.found === undefined) await requireNewest(files, increment);
    return { manifest, ...looked };
  } catch (error) {
    await files.discard(`${folder}/${file}`).catch(() => undefined); // `error` is the one to report
    throw error;
  }
}

/** Throws unless an increment still follows the newest file. */
async function requireNewest(files: FileStore, { previous }: Increment): Promise<void> {
  const newest = await newestRun(files);
  if (newest?.folder === previous.folder && newest.name === previous.name) return;
  throw new SyncError(
    'DESTINATION_BUSY',
    `Cannot write the changes to ${files.shown}: no other run may write there at the same time: run the command again: current value is a new file of ${newest?.manifest.scheduled_for ?? 'none'}`,
  );
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

/**
 * Returns what an earlier run wrote for the instant, or the newest run. Throws if the place has
 * other files.
 */
async function findComplete(
  source: Source,
  files: FileStore,
  options: SnapshotOptions,
): Promise<{ readonly own?: CompleteRun; readonly newest?: CompleteRun | undefined }> {
  await readLatest(files);
  const own = await completeRunOf(files, folderOf(options.scheduledFor));
  if (own !== undefined) {
    requireSame(source, files, own.manifest, options);
    return { own };
  }
  const newest = await newestRun(files);
  if (newest !== undefined) requireOwn(source, files, newest.manifest, options);
  return { newest };
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
  const { format, values, scheduledFor, question } = options;
  const flavor = flavorOf(values, question?.query);
  const [sent, compression] = format.split('.') as [ExportOptions['format'], string | undefined];
  const { report, next } = await openReport(source, sent, options);
  const exported = new Measured();
  const written = sent !== 'csv' && compression === undefined ? exported : new Measured();
  const { revision, rows } = await cancelIfFailed(report, async () => {
    requireNotYetToCome(scheduledFor, report.headers);
    const found = { revision: requireRevision(report.headers), rows: requireCount(report.headers) };
    const lines = exported.of(report);
    const content = sent === 'csv' ? fileOfExport(lines, flavor) : lines;
    const bytes = compression === undefined ? content : gzip(content);
    await files.write(`${folderOf(scheduledFor)}/${file}`, written === exported ? bytes : written.of(bytes));
    return found;
  });
  return {
    schema_version: 1,
    file,
    files: [`${folderOf(scheduledFor)}/${file}`],
    format,
    values,
    columns: columnsOf(format, flavor.zone),
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
    ...timesOf(scheduledFor),
    ...(next !== undefined && { next }),
  };
}

const timesOf = (scheduledFor: Date) => ({
  scheduled_for: scheduledFor.toISOString().replace(/\.\d{3}/, ''),
  completed_at: new Date().toISOString(),
});

/** Requests the report; for later increments, with a change token from before it. */
async function openReport(
  { client }: Source,
  format: ExportOptions['format'],
  { changes, question, signal }: SnapshotOptions,
): Promise<{ readonly report: SubscriptionExport; readonly next?: string }> {
  const call = signal === undefined ? {} : { signal };
  if (changes !== true) return { report: await client.export({ ...question?.query }, { format, ...call }) };
  for (let waitMs = 100; ; waitMs *= 2) {
    const { token, revision } = await currentPosition(client, call);
    const report = await client.export({}, { format, ...call });
    const found = await cancelIfFailed(report, () => requireRevision(report.headers));
    if (found >= revision) return { report, next: token };
    // a process of the service may be a second behind another one
    await report.cancel();
    if (waitMs > 3_000) throw behind(revision);
    await sleep(waitMs, undefined, call);
  }
}

const behind = (revision: number): SyncError =>
  new SyncError(
    'DESTINATION_BUSY',
    `Cannot write the report: the service must send it at revision ${revision} or a later one: run the command again`,
  );

/** Writes an increment. */
async function copyChanges(
  files: FileStore,
  { format, values, scheduledFor }: SnapshotOptions,
  file: string,
  { previous, changes, revision, rows, next }: Increment,
): Promise<Manifest> {
  const path = `${folderOf(scheduledFor)}/${file}`;
  const { service, client_id, applied_filters } = previous.manifest.report;
  const written = new Measured();
  const counts = { rows: 0, removals: 0 };
  const lines = countChanges(changes.lines(), counts);
  const content = fileOfChanges(lines, { format, values });
  await files.write(path, written.of(format.endsWith('.gz') ? gzip(content) : content));
  return {
    schema_version: 1,
    file,
    files: [...previous.manifest.files, path],
    format,
    values,
    columns: changeColumnsOf(format),
    ...counts,
    bytes: written.bytes,
    sha256: written.sha256,
    report: { service, client_id, revision, rows, applied_filters },
    ...timesOf(scheduledFor),
    next,
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
  { keeps, changes }: { readonly keeps: boolean; readonly changes: boolean },
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
  if (changes && unread !== undefined) throw unreadable(unread);
  return { written, wasRemoved, ...(unread !== undefined && { unread }), ...(notReplaced && { notReplaced }) };
}
