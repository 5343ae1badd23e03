import { createHash, randomBytes } from 'node:crypto';
import { CompressionStream, ReadableStream, type ReadableWritablePair } from 'node:stream/web';
import type { ExportOptions } from '../client/index.ts';
import type { SourceIdentity } from './destination.ts';
import { SyncError } from './error.ts';
import { removeLockOf, takeLock } from './file-lock.ts';
import type { FileStore } from './file-store.ts';
import {
  createManifest,
  folderOf,
  type Manifest,
  newestManifest,
  readManifest,
  requireSource,
  type SnapshotFormat,
} from './manifest.ts';
import { requireRevision, type Source } from './run-sync.ts';

interface SnapshotOptions {
  readonly format: SnapshotFormat;
  /** The instant of the run, which names its folder. */
  readonly scheduledFor: Date;
  readonly signal?: AbortSignal;
}

interface SnapshotResult {
  readonly manifest: Manifest;
  /** The file in messages. */
  readonly place: string;
  /** Whether an earlier run for the instant had written it. */
  readonly wasComplete: boolean;
}

/**
 * Writes the whole report to a new file of a place, and its manifest after it. The manifest is
 * written only when the service's count and digest agree with the file. A run whose instant has a
 * manifest does nothing. Throws `SyncError`, or an error of the client library; the run then counts
 * for nothing, and its file is removed, now or by the next run.
 */
export async function runSnapshot(source: Source, files: FileStore, options: SnapshotOptions): Promise<SnapshotResult> {
  try {
    const found = await findComplete(source, files, options);
    if (found === undefined) return await writeSnapshot(source, files, options);
    const file = `${folderOf(options.scheduledFor)}/${found.manifest.file}`;
    await removeLockOf(files, file, (left) => removeOfKilled(files, left));
    return found;
  } finally {
    await files.close();
  }
}

/** Returns what an earlier run wrote. Throws if the place has files of something else. */
async function findComplete(
  source: Source,
  files: FileStore,
  { format, scheduledFor }: SnapshotOptions,
): Promise<SnapshotResult | undefined> {
  const folder = folderOf(scheduledFor);
  const manifest = await readManifest(files, folder);
  const newest = manifest ?? (await newestManifest(files))?.manifest;
  if (newest !== undefined) requireSource(files, newest, source);
  if (manifest === undefined) return undefined;
  if (manifest.format === format)
    return { manifest, place: `${files.shown}/${folder}/${manifest.file}`, wasComplete: true };
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot write ${format} for ${manifest.scheduled_for} to ${files.shown}: a place must have one format for an instant; use another place, such as dir:/var/exports/${format}: current value is ${manifest.format}`,
  );
}

async function writeSnapshot(source: Source, files: FileStore, options: SnapshotOptions): Promise<SnapshotResult> {
  const run = randomBytes(8).toString('hex');
  const folder = folderOf(options.scheduledFor);
  // no two runs write to one file, so that a manifest can only be about the file of its run
  const file = `subscriptions-${run}.${options.format}`;
  const lock = await takeLock(files, run, `${folder}/${file}`, (left) => removeOfKilled(files, left));
  try {
    const found = await findComplete(source, files, options);
    const manifest = found?.manifest ?? (await copyReport(source, files, options, file));
    if (found === undefined) {
      await lock.confirm();
      if (!(await createManifest(files, folder, manifest)))
        throw new SyncError('DESTINATION_BUSY', `Cannot complete ${file}: another run must not have written ${folder}`);
    }
    return found ?? { manifest, place: `${files.shown}/${folder}/${file}`, wasComplete: false };
  } finally {
    // what cannot be removed now is in the lock, which then stays for the next run
    await removeLeftovers(files, `${folder}/${file}`)
      .then(() => lock.release())
      .catch(() => undefined);
  }
}

/** Removes a file of a run, unless its manifest was written. */
async function removeLeftovers(files: FileStore, left: string): Promise<void> {
  const [folder = '', file] = left.split('/');
  if ((await readManifest(files, folder))?.file !== file) await files.discard(left);
}

/** Removes what a killed run left: its file without a manifest, and unfinished writes beside it. */
async function removeOfKilled(files: FileStore, left: string): Promise<void> {
  await removeLeftovers(files, left);
  await files.discard(`${left}.part`);
}

async function copyReport(
  { client, service, clientId }: Source,
  files: FileStore,
  { format, scheduledFor, signal }: SnapshotOptions,
  file: string,
): Promise<Manifest> {
  const [sent, compression] = format.split('.') as [ExportOptions['format'], string | undefined];
  const report = await client.export({}, { format: sent, ...(signal && { signal }) });
  const exported = new Measured();
  const written = compression === undefined ? exported : new Measured();
  const bytes = exported.of(report);
  const revision = requireRevision(report.headers);
  await files.write(`${folderOf(scheduledFor)}/${file}`, compression === undefined ? bytes : written.of(gzip(bytes)));
  return {
    schema_version: 1,
    file,
    format,
    rows: report.totalCount,
    bytes: written.bytes,
    sha256: written.sha256,
    report: {
      service,
      client_id: clientId,
      revision,
      sha256: exported.sha256,
      applied_filters: report.headers.get('x-applied-filters') ?? '',
    },
    scheduled_for: scheduledFor.toISOString().replace(/\.\d{3}/, ''),
    completed_at: new Date().toISOString(),
  };
}

/** Counts and hashes bytes on their way. */
class Measured {
  readonly #hash = createHash('sha256');
  bytes = 0;

  async *of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      this.#hash.update(chunk);
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }
}

/** Compresses a stream; an error of the source is the error of the result. */
const gzip = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  ReadableStream.from(chunks).pipeThrough(
    new CompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>,
  );

/** Throws `SyncError` if a place has files of another source, or takes none. Writes nothing. */
export async function checkPlace(source: SourceIdentity, files: FileStore): Promise<void> {
  try {
    const newest = await newestManifest(files);
    if (newest !== undefined) requireSource(files, newest.manifest, source);
    await files.requireWritable?.();
  } finally {
    await files.close();
  }
}

/** The newest complete file of a place, read again. */
interface SnapshotVerification {
  readonly manifest: Manifest;
  readonly place: string;
  readonly found: { readonly bytes: number; readonly sha256: string };
  readonly isEqual: boolean;
}

/** Compares the newest file with its manifest. Throws `SyncError` `NOT_EQUAL` if there is none. */
export async function verifySnapshot(files: FileStore): Promise<SnapshotVerification> {
  try {
    const newest = await newestManifest(files);
    if (newest === undefined)
      throw new SyncError(
        'NOT_EQUAL',
        `Cannot verify ${files.shown}: it must have a complete file: run 'subreport sync' first`,
      );
    const { folder, manifest } = newest;
    const place = `${files.shown}/${folder}/${manifest.file}`;
    const content = await files.read(`${folder}/${manifest.file}`);
    if (content === undefined)
      throw new SyncError('NOT_EQUAL', `Cannot verify ${place}: it must exist, as its manifest says`);
    const found = new Measured();
    for await (const _chunk of found.of(content));
    const { bytes, sha256 } = found;
    const isEqual = bytes === manifest.bytes && sha256 === manifest.sha256;
    return { manifest, place, found: { bytes, sha256 }, isEqual };
  } finally {
    await files.close();
  }
}
