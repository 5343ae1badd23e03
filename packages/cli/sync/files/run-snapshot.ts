import { randomBytes } from 'node:crypto';
import { SyncError } from '../source/error.ts';
import { Measured } from '../source/measured.ts';
import { cancelIfFailed, requireCount, requireRevision, type Source } from '../source/read-source.ts';
import { columnsOf, type SnapshotFormat } from './file-format.ts';
import { type FileStore, ifReadable, requireStored } from './file-store.ts';
import {
  completeRunOf,
  folderOf,
  type Manifest,
  manifestName,
  manifestText,
  newestRun,
  requireSource,
} from './manifest.ts';
import { csvOfExport, gzip } from './text-file.ts';

interface SnapshotOptions {
  readonly format: SnapshotFormat;
  /** The instant of the run. */
  readonly scheduledFor: Date;
  readonly signal?: AbortSignal;
}

export interface SnapshotResult {
  readonly manifest: Manifest;
  /** The file in messages. */
  readonly place: string;
  /** Whether another run for the instant had written it. */
  readonly wasComplete: boolean;
  /** Why the place could not be read: other files of it are then unknown. */
  readonly unread: string | undefined;
}

/** What the steps of a run work with. */
interface Run {
  readonly source: Source;
  readonly files: FileStore;
  readonly options: SnapshotOptions;
  readonly folder: string;
  /** The name of its file; its random part is `id`. */
  readonly file: string;
  readonly id: string;
  unread: string | undefined;
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
  const id = randomBytes(8).toString('hex');
  const names = { id, folder: folderOf(options.scheduledFor), file: `subscriptions-${id}.${options.format}` };
  const run: Run = { source, files, options, ...names, unread: undefined };

  const manifest = (await look(run, findEarlier)) ?? (await writeRun(run));

  const place = `${files.shown}/${manifest.files.at(-1)}`;
  return { manifest, place, wasComplete: manifest.file !== run.file, unread: run.unread };
}

/** Writes the file, then the manifest. Returns that of another run, if one was faster. */
async function writeRun(run: Run): Promise<Manifest> {
  const { files, folder, file, id } = run;
  const { own, other } = await writeFile(run).catch(async (error: unknown) => {
    await files.discard(`${folder}/${file}`).catch(() => undefined); // `error` is the one to report
    throw error;
  });
  if (other !== undefined) await files.discard(`${folder}/${file}`);
  // if this fails, the file stays: the manifest may be stored all the same
  else await files.write(`${folder}/${manifestName(id)}`, [Buffer.from(manifestText(own))]);
  return other ?? own;
}

async function writeFile(run: Run): Promise<{ readonly own: Manifest; readonly other: Manifest | undefined }> {
  const own = await copyReport(run);
  return { own, other: await look(run, () => findOther(run, own)) };
}

/** Looks at a place that the run may have no right to read. */
async function look<T>(run: Run, work: (run: Run) => Promise<T>): Promise<T | undefined> {
  const { found, unread } = await ifReadable(run.files, () => work(run));
  run.unread ??= unread;
  return found;
}

/** Returns what an earlier run wrote for the instant. Throws if the place has other files. */
async function findEarlier(run: Run): Promise<Manifest | undefined> {
  const earlier = await findForInstant(run);
  if (earlier !== undefined) return earlier;
  const newest = await newestRun(run.files);
  if (newest !== undefined) requireSource(run.files, newest.manifest, run.source);
  return undefined;
}

/** Returns what another run wrote meanwhile. Throws if the file of this one is not whole. */
async function findOther(run: Run, { file, bytes }: Manifest): Promise<Manifest | undefined> {
  await requireStored(run.files, run.folder, file, bytes);
  return findForInstant(run);
}

/** The manifest of this instant. Throws unless it is what this run writes, in its format too. */
async function findForInstant(run: Run): Promise<Manifest | undefined> {
  const { source, files, options, folder } = run;
  const manifest = (await completeRunOf(files, folder))?.manifest;
  if (manifest === undefined) return undefined;
  requireSource(files, manifest, source);
  if (manifest.format === options.format) return manifest;
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot write ${options.format} for ${manifest.scheduled_for} to ${files.shown}: a place must have one format for an instant; use another place, such as dir:/var/exports/${options.format}: current value is ${manifest.format}`,
  );
}

/** Writes the report to the file of a run. Returns its manifest. */
async function copyReport({ source, files, options, folder, file }: Run): Promise<Manifest> {
  const { format, scheduledFor, signal } = options;
  const sent = format === 'parquet' ? 'parquet' : 'ndjson';
  const call = signal === undefined ? {} : { signal };
  const report = await source.client.export({}, { format: sent, ...call });
  const [exported, written] = [new Measured(), new Measured()];
  const { revision, rows } = await cancelIfFailed(report, async () => {
    const found = { revision: requireRevision(report.headers), rows: requireCount(report.headers) };
    const bytes = exported.of(report);
    const content = format.startsWith('csv') ? csvOfExport(bytes) : bytes;
    await files.write(`${folder}/${file}`, written.of(format.endsWith('.gz') ? gzip(content) : content));
    return found;
  });
  return {
    schema_version: 1,
    file,
    files: [`${folder}/${file}`],
    format,
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
    },
    scheduled_for: scheduledFor.toISOString().replace(/\.\d{3}/, ''),
    completed_at: new Date().toISOString(),
  };
}
