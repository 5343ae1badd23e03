import type { SourceIdentity } from './destination.ts';
import { SyncError } from './error.ts';
import { type FileStore, readSmallFile } from './file-store.ts';

/** The formats of a file; those that end in `.gz` are compressed. */
export const snapshotFormats = ['csv', 'csv.gz', 'ndjson', 'ndjson.gz', 'parquet'] as const;
export type SnapshotFormat = (typeof snapshotFormats)[number];

/** What a file has. A file without its manifest is not complete. */
export interface Manifest {
  /** Changes when a column or field of the file is added or changed. */
  readonly schema_version: 1;
  /** Name of the file, beside the manifest. */
  readonly file: string;
  readonly format: SnapshotFormat;
  readonly rows: number;
  /** Size and SHA-256 of the file. */
  readonly bytes: number;
  readonly sha256: string;
  readonly report: {
    readonly service: string;
    readonly client_id: string;
    readonly revision: number;
    /** SHA-256 of the export, which the service sent at its end: the file before compression. */
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

const nameIn = (folder: string): string => `${folder}/manifest.json`;

/** Returns the manifest of a run; `undefined` if the run has none. */
export async function readManifest(files: FileStore, folder: string): Promise<Manifest | undefined> {
  const text = await readSmallFile(files, nameIn(folder));
  if (text === undefined) return undefined;
  const manifest = parseManifest(text);
  if (manifest !== undefined) return manifest;
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot use ${files.shown}: ${nameIn(folder)} must be a manifest that sync wrote; remove its folder, or use another place, such as dir:/var/exports`,
  );
}

/** Writes the manifest of a run. Returns false if another run has written one. */
export async function createManifest(files: FileStore, folder: string, manifest: Manifest): Promise<boolean> {
  if (await files.create(nameIn(folder), `${JSON.stringify(manifest, null, 2)}\n`)) return true;
  // a repeated request may find what the first one has written
  return (await readManifest(files, folder))?.file === manifest.file;
}

/** The newest run that is complete. */
export async function newestManifest(
  files: FileStore,
): Promise<{ readonly folder: string; readonly manifest: Manifest } | undefined> {
  const folders = (await files.folders()).filter((name) => folderPattern.test(name)).sort();
  for (const folder of folders.reverse()) {
    const manifest = await readManifest(files, folder);
    if (manifest !== undefined) return { folder, manifest };
  }
  return undefined;
}

/** Throws unless a manifest is of this source. */
export function requireSource(files: FileStore, { report }: Manifest, source: SourceIdentity): void {
  if (report.service === source.service && report.client_id === source.clientId) return;
  throw new SyncError(
    'OTHER_SOURCE',
    `Cannot use ${files.shown}: it must have files for the same client of the same service, or none; use another place, such as dir:/var/exports/other: current value is files for '${report.client_id}' of ${report.service}`,
  );
}

const hash = /^[0-9a-f]{64}$/;

function parseManifest(text: string): Manifest | undefined {
  try {
    const found = JSON.parse(text) as Manifest;
    const { file, format, rows, bytes, sha256, report } = found;
    const isWhole =
      /^subscriptions-[0-9a-f]{16}\.[a-z.]+$/.test(file) &&
      snapshotFormats.includes(format) &&
      [rows, bytes, report.revision].every(Number.isSafeInteger) &&
      [sha256, report.sha256].every((each) => hash.test(each)) &&
      [report.service, report.client_id].every((each) => typeof each === 'string') &&
      !Number.isNaN(Date.parse(found.completed_at));
    return isWhole ? found : undefined;
  } catch {
    return undefined;
  }
}
