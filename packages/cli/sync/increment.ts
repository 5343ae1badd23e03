import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../client/index.ts';
import { ChangeSpool } from './change-spool.ts';
import { SyncError } from './error.ts';
import { type CsvValues, changeColumnsOf, columnsOf, describeColumns, type SnapshotFormat } from './file-format.ts';
import type { FileStore } from './file-store.ts';
import { type CompleteRun, folderOf, isIncrement, type Manifest, reportRowsOf } from './manifest.ts';
import { revisionOf, type Source } from './read-source.ts';
import { totalAt } from './run-sync.ts';

/** Most increments of a whole report. Their paths must fit into the 64 KiB of a manifest. */
const incrementsMax = 500;

export interface IncrementOptions {
  readonly format: SnapshotFormat;
  readonly values: CsvValues;
  readonly scheduledFor: Date;
  /** Whether to begin again with a whole report. */
  readonly reload?: boolean;
  readonly signal?: AbortSignal;
}

/** The changes since a file, which lead from its report to that of a later revision. */
export interface Increment {
  readonly previous: CompleteRun;
  readonly changes: ChangeSpool;
  readonly revision: number;
  /** Number of records of the report at that revision. */
  readonly rows: number;
  readonly next: string;
}

/** What a run writes: an increment, nothing, or a whole report and why. */
type Plan = { readonly increment: Increment } | { readonly unchanged: Manifest } | { readonly whole: string };

/**
 * Reads the changes since the newest file of a place. A walk that does not lead to a later report
 * is repeated once. Throws `SyncError` if the run is not later than that file, or an error of the
 * client library.
 */
export async function planIncrement(
  source: Source,
  files: FileStore,
  newest: CompleteRun | undefined,
  options: IncrementOptions,
): Promise<Plan> {
  if (newest === undefined) return { whole: 'there is no earlier file' };
  requireLater(files, newest, options.scheduledFor);
  const whole = options.reload === true ? '--reload was given' : await whyWhole(files, newest, options);
  return whole === undefined ? readChanges(source, newest, options) : { whole };
}

function requireLater(files: FileStore, { folder, manifest }: CompleteRun, scheduledFor: Date): void {
  if (folder < folderOf(scheduledFor)) return;
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot write the changes for ${scheduledFor.toISOString().replace('.000', '')} to ${files.shown}: with --changes, each run must be for a later instant than the newest file: current value is a file of ${manifest.scheduled_for}`,
  );
}

/** Why no increment can follow a file. */
async function whyWhole(
  files: FileStore,
  { manifest, listedBytes }: CompleteRun,
  { format, values }: IncrementOptions,
): Promise<string | undefined> {
  const columns = isIncrement(manifest) ? changeColumnsOf(manifest.format) : columnsOf(manifest.format);
  if (manifest.next === undefined) return 'the newest file was written without --changes';
  if (manifest.format !== format || manifest.values !== values) return `the newest file has ${manifest.format}`;
  if (describeColumns(columns) !== describeColumns(manifest.columns)) return 'the newest file has other columns';
  if (manifest.files.length > incrementsMax) return `there are ${incrementsMax} increments`;
  if (listedBytes !== manifest.bytes && listedBytes !== -1) return `${manifest.files.at(-1)} is not whole`;
  // what removes old files by itself begins with the oldest
  const [base = ''] = manifest.files;
  const [folder = '', name = ''] = base.split('/');
  return (await files.list(folder)).has(name) ? undefined : `${base} is gone`;
}

async function readChanges(source: Source, previous: CompleteRun, options: IncrementOptions): Promise<Plan> {
  let found = '';
  for (const waitMs of [0, 1_000]) {
    // a process of the service may be a second behind another one
    await sleep(waitMs, undefined, options.signal && { signal: options.signal });
    const changes = await ChangeSpool.open();
    try {
      const plan = await walk(source, previous, changes, options);
      if ('increment' in plan) return plan;
      await changes.remove();
      if (!('retry' in plan)) return plan;
      found = plan.retry;
    } catch (error) {
      await changes.remove();
      throw error;
    }
  }
  return { whole: found };
}

/** Reads the changes once. */
async function walk(
  { client }: Source,
  previous: CompleteRun,
  changes: ChangeSpool,
  { signal }: IncrementOptions,
): Promise<Plan | { readonly retry: string }> {
  const call = signal === undefined ? {} : { signal };
  const { next: since = '', report } = previous.manifest;
  let [next, revision] = [since, 0];
  try {
    for await (const page of client.changes(since, call)) {
      await changes.add(page);
      [next, revision] = [page.next, revisionOf(page)];
      if (changes.isUnsteady) return { retry: 'too many records changed while the changes were read' };
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'RESYNC_REQUIRED') throw error;
    return { whole: 'the change token is no longer valid' };
  }
  const { changed, removals } = changes.counts;
  if (revision === report.revision || (revision > report.revision && changed + removals === 0))
    return { unchanged: previous.manifest };
  if (revision < report.revision) return { retry: `the changes end at revision ${revision}` };
  const rows = await totalAt(client, revision, call);
  const before = reportRowsOf(previous.manifest);
  if (rows === undefined || rows < before - removals || rows > before + changed)
    return { retry: `the changes do not lead to the report at revision ${revision}` };
  return { increment: { previous, changes, revision, rows, next } };
}
