import { randomBytes } from 'node:crypto';
import { SyncError } from '../source/error.ts';
import type { SourceIdentity } from '../source/read-source.ts';
import { type FileStore, ifReadable, requireStored } from './file-store.ts';
import { ifRefused, newestRun, readLatest, requireSource } from './manifest.ts';

/** What a check of a destination of files has tried. */
interface PlaceCheck {
  /** The file that was written, relative to the destination. */
  readonly written: string;
  /** Whether it could be removed: the right to write is enough for a run. */
  readonly wasRemoved: boolean;
  /** Why it could not be read: whether it has the file, and which others, is then unknown. */
  readonly unread: string | undefined;
  /** Why it could not be replaced, as `latest.json` is. */
  readonly notReplaced: string | undefined;
}

/**
 * Writes a small file to a folder of its own, looks for it, replaces it, and removes both; without
 * `keeps`, the right to write is enough. Throws `SyncError` if the destination has files of another
 * source, or does not store the file.
 */
export async function checkPlace(source: SourceIdentity, files: FileStore, keeps: boolean): Promise<PlaceCheck> {
  const before = await ifReadable(files, async () => {
    const newest = await newestRun(files);
    if (newest !== undefined) requireSource(files, newest.manifest, source);
    return readLatest(files);
  });
  const [folder, file] = [`subreport-check-${randomBytes(8).toString('hex')}`, 'check.txt'];
  const written = `${folder}/${file}`;
  const content = Buffer.from('written by subreport sync check: it can be removed\n');
  await files.write(written, [content]);
  const after = await ifReadable(files, () => requireStored(files, folder, file, content.length));
  const unread = before.unread ?? after.unread;
  const notReplaced = (await files.replace(written, content.toString()).catch(ifRefused))?.message;
  const wasRemoved = await files.removeWithFolder(written);
  if (!keeps || (unread === undefined && wasRemoved)) return { written, wasRemoved, unread, notReplaced };
  throw new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --keep with ${files.shown}: this user must be able to list, read and remove files; without --keep, the right to write is enough: current value is ${unread ?? `${written}, which could not be removed`}`,
  );
}
