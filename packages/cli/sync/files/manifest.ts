import { SyncError } from '../source/error.ts';
import { isYetToCome, type SourceIdentity } from '../source/read-source.ts';
import { columnsOf, describeColumns, type FileColumn, type SnapshotFormat, snapshotFormats } from './file-format.ts';
import { type FileStore, readSmallFile } from './file-store.ts';

/** What a file has. A file without its manifest is not complete. */
export interface Manifest {
  /** Changes when a column or field of the file is added or changed. */
  readonly schema_version: 1;
  /** Name of the file, beside the manifest. */
  readonly file: string;
  /** The path of the file below the place. */
  readonly files: readonly string[];
  readonly format: SnapshotFormat;
  /** The columns of the file in their order, or the members of a line of NDJSON. */
  readonly columns: readonly FileColumn[];
  readonly rows: number;
  /** Size and SHA-256 of the file. */
  readonly bytes: number;
  readonly sha256: string;
  readonly report: {
    readonly service: string;
    readonly client_id: string;
    readonly revision: number;
    /** SHA-256 of the export, which the service sent at its end: as Parquet, else as NDJSON. */
    readonly sha256: string;
    /** The header `X-Applied-Filters`. */
    readonly applied_filters: string;
  };
  /** The instant of the run, ISO 8601 in UTC: the folder of the file. */
  readonly scheduled_for: string;
  readonly completed_at: string;
}

/** The folder of a run: `2026-11-23T030000Z`, because a colon is not allowed everywhere. */
export const folderOf = (instant: Date): string => instant.toISOString().replace(/:|\.\d{3}/g, '');

const folderPattern = /^\d{4}-\d{2}-\d{2}T\d{6}Z$/;

const namePattern = /^manifest-[0-9a-f]{16}\.json$/;

/** The name of a run's manifest; its file has the same random part. */
export const manifestName = (run: string): string => `manifest-${run}.json`;

export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** A run that is complete. */
export interface CompleteRun {
  readonly folder: string;
  /** The name of its manifest. */
  readonly name: string;
  readonly manifest: Manifest;
  /** The size of its file in the list of the folder, -1 if the list has no size. */
  readonly listedBytes: number | undefined;
}

/**
 * Returns the run that is complete for an instant; `undefined` if there is none. Of runs at the
 * same time, the one whose manifest has the last name counts.
 */
export async function completeRunOf(files: FileStore, folder: string): Promise<CompleteRun | undefined> {
  for await (const run of runsIn(files, folder)) return run;
  return undefined;
}

/** The complete runs of a folder, the one that counts first. */
async function* runsIn(files: FileStore, folder: string): AsyncGenerator<CompleteRun, void, undefined> {
  const entries = await files.list(folder);
  const names = [...entries.keys()].filter((each) => namePattern.test(each)).sort();
  for (const name of names.reverse()) {
    const manifest = await readManifest(files, `${folder}/${name}`);
    if (manifest !== undefined) yield { folder, name, manifest, listedBytes: entries.get(manifest.file) };
  }
}

/** Reads a manifest; `undefined` if a run was killed while it was written, or it was removed. */
async function readManifest(files: FileStore, name: string): Promise<Manifest | undefined> {
  const text = await readSmallFile(files, name);
  const manifest = parseManifest(text);
  if (manifest !== undefined || isUnfinished(text)) return manifest;
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot use ${files.shown}: ${name} must be a manifest that sync wrote; remove its folder, or use another place, such as dir:/var/exports`,
  );
}

/** The folders of runs, newest first, each with what is complete in it. */
export async function* runsOf(
  files: FileStore,
): AsyncGenerator<{ readonly folder: string; readonly run: CompleteRun | undefined }, void, undefined> {
  const folders = [...(await files.list()).keys()].filter((name) => folderPattern.test(name));
  for (const folder of folders.sort().reverse()) yield { folder, run: await completeRunOf(files, folder) };
}

/** The newest run that is complete. */
export async function newestRun(files: FileStore): Promise<CompleteRun | undefined> {
  for await (const { run } of runsOf(files)) if (run !== undefined) return run;
  return undefined;
}

/** Throws unless a manifest is of this source. */
export function requireSource(files: FileStore, { report }: Manifest, { service, clientId }: SourceIdentity): void {
  if (report.service === service && report.client_id === clientId) return;
  throw new SyncError(
    'OTHER_SOURCE',
    `Cannot use ${files.shown}: it must have files for the same client of the same service, or none; use another place, such as dir:/var/exports/other: current value is files for '${report.client_id}' of ${report.service}`,
  );
}

/** Whether a text is the beginning of a manifest. */
function isUnfinished(text: string): boolean {
  const start = '{\n  "schema_version": 1,';
  return (start.startsWith(text) || text.startsWith(start)) && !text.endsWith('\n}\n');
}

const hash = /^[0-9a-f]{64}$/;

const filePattern = /^subscriptions-[0-9a-f]{16}\.[a-z.]+$/;

/** Parses a manifest; `undefined` if it is none. */
function parseManifest(text: string): Manifest | undefined {
  try {
    const found = JSON.parse(text) as Manifest;
    const { file, format, rows, bytes, sha256, report } = found;
    const isWhole =
      found.schema_version === 1 &&
      filePattern.test(file) &&
      found.files.every((path) => typeof path === 'string') &&
      found.files.at(-1)?.split('/')[1] === file &&
      snapshotFormats.includes(format) &&
      found.columns.every(({ name, type }) => typeof name === 'string' && typeof type === 'string') &&
      [rows, bytes, report.revision].every(Number.isSafeInteger) &&
      [sha256, report.sha256].every((each) => typeof each === 'string' && hash.test(each)) &&
      [report.service, report.client_id, report.applied_filters].every((each) => typeof each === 'string') &&
      [found.scheduled_for, found.completed_at].every((each) => !Number.isNaN(Date.parse(each)));
    return isWhole ? found : undefined;
  } catch {
    return undefined;
  }
}

/** What a manifest says of its names and times, and is not so. */
export function claimFaults({ folder, name, manifest }: CompleteRun): string[] {
  const { file, format, scheduled_for: scheduled, completed_at: completed } = manifest;
  const faults: string[] = differ('files', manifest.files.join(', '), `${folder}/${file}`, 'its path');
  const [, run = '', ending] = /^\w+-(\w+)\.(.+)$/.exec(file) ?? [];
  if (manifestName(run) !== name) faults.push(`file '${file}', of another run than ${name}`);
  if (ending !== format) faults.push(`format '${format}', file '${file}'`);
  if (folderOf(new Date(scheduled)) !== folder) faults.push(`scheduled_for '${scheduled}', folder ${folder}`);
  faults.push(...differ('columns', describeColumns(columnsOf(format)), describeColumns(manifest.columns)));
  if (isYetToCome(completed)) faults.push(`completed_at '${completed}', which is yet to come`);
  return faults;
}

/** A fault for two values that must be equal. */
export const differ = (
  what: string,
  found: string | number,
  claimed: string | number | undefined,
  by = 'manifest',
): string[] => (found === claimed ? [] : [`${what} ${found}, ${by} ${claimed}`]);
