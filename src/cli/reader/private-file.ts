import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFailure } from '../error.ts';

/** Writes a file that only this user can read, in a folder that only this user can open. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  chmodSync(dirname(path), 0o700); // the mode above only applies to a new folder
  replaceFile(path, text);
}

/**
 * Replaces a file that only this user can read. Other processes see the old content or the new one,
 * never a part.
 */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeFailure(path, error as NodeJS.ErrnoException);
  }
}

/** Returns the content of a file, or `undefined` if there is none. */
export function readFileIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
