import { SyncError } from '../source/error.ts';
import { isYetToCome } from '../source/yet-to-come.ts';
import { type FileStore, readSmallFile } from './file-store.ts';
import {
  beginsAsManifest,
  type CompleteRun,
  completeRunOf,
  type Manifest,
  manifestText,
  parseManifest,
} from './manifest.ts';

/** A copy of the newest manifest, beside the folders of the runs. */
const latestName = 'latest.json';

/**
 * The manifest that `latest.json` has; `undefined` if there is none, or if it was not written as a
 * whole. Throws `SyncError` `DESTINATION_CHANGED` if it is something else.
 */
export async function readLatest(files: FileStore): Promise<Manifest | undefined> {
  // not found in a list of all runs, which may be long
  const text = await readSmallFile(files, latestName).catch((error: unknown) => {
    if ((error as { cause?: NodeJS.ErrnoException }).cause?.code === 'ENOENT') return '';
    throw error;
  });
  const manifest = parseManifest(text);
  // two runs may have written it in place at the same time
  if (manifest !== undefined || beginsAsManifest(text)) return manifest;
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot use ${files.shown}/${latestName}: it must be a copy of a manifest, or not exist: remove it, or use another place, such as dir:/var/exports`,
  );
}

/**
 * Replaces `latest.json`, unless it is of a later run. Returns why it could not be replaced: the
 * right to write new files is enough for a run, and a clock may have been ahead.
 */
export async function updateLatest(files: FileStore, manifest: Manifest): Promise<string | undefined> {
  const latest = await readLatest(files).catch(ifRefused);
  if (latest instanceof SyncError || latest === undefined || pathOf(latest) < pathOf(manifest))
    return (await files.replace(latestName, manifestText(manifest)).catch(ifRefused))?.message;
  const { scheduled_for: instant } = latest;
  if (!isYetToCome(instant)) return undefined;
  return `Cannot replace ${files.shown}/${latestName}: no run may be of an instant that is yet to come: remove it, and its folder: current value is a run of ${instant}`;
}

/** Where a run stands in the order of all runs of a place: by instant, then by name. */
const pathOf = ({ files }: Manifest): string => files.at(-1) ?? '';

/** Handles an error of a place that refuses what is not necessary: returns it; throws any other. */
export function ifRefused(error: unknown): SyncError {
  const codes: readonly string[] = ['DESTINATION_INVALID', 'DESTINATION_REFUSED', 'DESTINATION_UNREADABLE'];
  if (error instanceof SyncError && codes.includes(error.code)) return error;
  throw error;
}

/** What `verify` says of `latest.json`. */
export interface LatestCheck {
  /** Why it is not that of the newest run, although it may have been: the next run replaces it. */
  readonly stale?: string;
  /** What is wrong with it. */
  readonly fault?: string;
}

/** Compares `latest.json` with the newest manifest. */
export async function checkLatest(files: FileStore, { manifest }: CompleteRun): Promise<LatestCheck> {
  const latest = await readLatest(files).catch((error: unknown) => {
    if (error instanceof SyncError && error.code === 'DESTINATION_CHANGED') return error;
    throw error;
  });
  if (latest instanceof SyncError) return { fault: 'no manifest' };
  if (latest === undefined) return { stale: 'none, or the beginning of one' };
  const text = manifestText(latest);
  if (text === manifestText(manifest)) return {};
  const [folder = ''] = pathOf(latest).split('/');
  const former = await completeRunOf(files, folder);
  const isFormer = former !== undefined && manifestText(former.manifest) === text;
  const found = `that of ${latest.scheduled_for}`;
  return isFormer ? { stale: found } : { fault: `${found}, which no manifest equals` };
}
