import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Watches the folders of files, and those that the files link to: certbot and Kubernetes replace
 * links.
 */
interface FolderWatch {
  /** Follows links that have changed. */
  readonly update: () => void;
  readonly close: () => void;
}

/**
 * Calls `onEvent` when something changes in a folder of `files`. A folder that cannot be watched is
 * ignored.
 */
export function watchFolders(files: readonly string[], onEvent: () => void): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  const keepOnly = (folders: ReadonlySet<string>): void => {
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
  };
  const update = (): void => {
    const folders = new Set(files.flatMap((file) => [dirname(file), dirname(realPath(file))]));
    keepOnly(folders);
    for (const folder of folders) {
      if (watchers.has(folder)) continue;
      const watcher = watchFolder(folder, onEvent);
      if (watcher !== undefined) watchers.set(folder, watcher);
    }
  };
  update();
  return { update, close: () => keepOnly(new Set()) };
}

/** The file that a path links to, or the path itself while the link is broken. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function watchFolder(folder: string, onEvent: () => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, onEvent).on('error', () => undefined);
  } catch {
    return undefined;
  }
}
