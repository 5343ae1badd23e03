import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder (mode 0700) and those above it, which another process may do at the same time.
 * The option `recursive` of `mkdirSync` never ends where no folder can be created, as in /proc.
 * Throws the error of the system call, which names the folder that cannot be created.
 */
export function createFolders(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
