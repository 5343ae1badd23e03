import type { SourceIdentity } from './destination.ts';
import { SyncError } from './error.ts';
import type { FileStore } from './file-store.ts';
import { folderOf, foldersOf, type Manifest, manifestsOf } from './manifest.ts';

/** How long files are kept. */
interface KeepOptions {
  /** The run that was just completed. */
  readonly manifest: Manifest;
  readonly keepSeconds: number;
}

/**
 * Removes the runs that are older than a run by more than this time: their manifests, then the
 * files that these name, then the folders if nothing else is in them. What has no manifest of this
 * source stays, and so does what a later file is read with. Returns the number of runs removed.
 * Throws `SyncError` if one cannot be removed. Killed in the middle, it leaves at most one file
 * without its manifest, which counts for nothing.
 */
export async function removeOlderRuns(
  files: FileStore,
  source: SourceIdentity,
  { manifest, keepSeconds }: KeepOptions,
): Promise<number> {
  const limit = folderOf(new Date(Date.parse(manifest.scheduled_for) - keepSeconds * 1_000));
  const folders = await foldersOf(files);
  // the oldest run that is kept needs the oldest files
  const kept = folders.filter((folder) => folder >= limit).reverse();
  const needed = new Set(foldersNeeded([manifest]));
  for (const folder of kept) {
    const manifests = (await manifestsOf(files, folder)).map((run) => run.manifest);
    for (const each of foldersNeeded(manifests)) needed.add(each);
    if (manifests.length > 0) break;
  }
  let removed = 0;
  for (const folder of folders) {
    if (folder >= limit || needed.has(folder)) continue;
    removed += Number(await removeRuns(files, source, folder));
  }
  return removed;
}

const foldersNeeded = (manifests: readonly Manifest[]): string[] =>
  manifests.flatMap((manifest) => manifest.files.map((path) => path.split('/')[0] ?? ''));

/** Removes the runs of a folder. Returns whether there were any of this source. */
async function removeRuns(files: FileStore, source: SourceIdentity, folder: string): Promise<boolean> {
  const runs = await manifestsOf(files, folder).catch((error: unknown) => {
    // what is no manifest of ours stays
    if (error instanceof SyncError && error.code === 'DESTINATION_CHANGED') return [];
    throw error;
  });
  const isOurs = ({ report }: Manifest): boolean =>
    report.service === source.service && report.client_id === source.clientId;
  if (runs.length === 0 || !runs.every(({ manifest }) => isOurs(manifest))) return false;
  for (const { name } of runs) await remove(files, `${folder}/${name}`);
  for (const { manifest } of runs) await remove(files, `${folder}/${manifest.file}`);
  return true;
}

async function remove(files: FileStore, name: string): Promise<void> {
  if (await files.removeWithFolder(name)) return;
  throw new SyncError(
    'DESTINATION_REFUSED',
    `Cannot remove ${files.shown}/${name}: with --keep, this user must be able to remove files`,
  );
}
