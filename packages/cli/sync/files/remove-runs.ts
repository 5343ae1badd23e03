import { SyncError } from '../source/error.ts';
import type { SourceIdentity } from '../source/read-source.ts';
import type { FileStore } from './file-store.ts';
import { type CompleteRun, folderOf, foldersOf, type Manifest, manifestsOf } from './manifest.ts';

/**
 * Removes the runs that are older than a run by more than this time: their manifests, then the
 * files that these name, then the folders if nothing else is in them. What has no manifest of this
 * source stays. Without a time, all stay. Returns for how many instants runs were removed. Throws
 * `SyncError` if one cannot be removed. Killed in the middle, it leaves at most one file without
 * its manifest, which counts for nothing.
 */
export async function removeOlderRuns(
  files: FileStore,
  source: SourceIdentity,
  manifest: Manifest,
  keepSeconds: number | undefined,
): Promise<number | undefined> {
  if (keepSeconds === undefined) return undefined;
  const limit = folderOf(new Date(Date.parse(manifest.scheduled_for) - keepSeconds * 1_000));
  const folders = await foldersOf(files);
  let removed = 0;
  for (const folder of folders.filter((each) => each < limit)) {
    const runs = await runsOfUs(files, source, folder);
    for (const { name } of runs) await remove(files, `${folder}/${name}`);
    for (const run of runs) await remove(files, `${folder}/${run.manifest.file}`);
    removed += Number(runs.length > 0);
  }
  return removed;
}

/** The complete runs of a folder; none if it has manifests that are not of sync. */
const ownManifests = (files: FileStore, folder: string): Promise<CompleteRun[]> =>
  manifestsOf(files, folder).catch((error: unknown) => {
    // what is no manifest of ours stays
    if (error instanceof SyncError && error.code === 'DESTINATION_CHANGED') return [];
    throw error;
  });

/** The runs of a folder if all are of this source, else none. */
async function runsOfUs(files: FileStore, source: SourceIdentity, folder: string): Promise<CompleteRun[]> {
  const runs = await ownManifests(files, folder);
  const isOurs = ({ report }: Manifest): boolean =>
    report.service === source.service && report.client_id === source.clientId;
  return runs.every(({ manifest }) => isOurs(manifest)) ? runs : [];
}

async function remove(files: FileStore, name: string): Promise<void> {
  if (await files.removeWithFolder(name)) return;
  throw new SyncError(
    'DESTINATION_REFUSED',
    `Cannot remove ${files.shown}/${name}: with --keep, this user must be able to remove files`,
  );
}
