import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { join as joinUrl } from 'node:path/posix';

/** A relative path in a string; in a template, the part before its first value. */
const relativePath = /(?<quote>['"`])(?<path>\.{1,2}\/[^'"`$\n]*)(?<end>['"`$])/g;

/**
 * Copies compiled files, and all that they lead to by a relative path in a string: imports, threads
 * and, before a value in a template, whole folders.
 *
 * @param entries paths below `from`
 */
export function copyReachable(from: string, to: string, entries: readonly string[]): void {
  const files = new Set(entries);
  // the set grows as it is read
  for (const file of files) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(from, file), join(to, file), { recursive: true });
    if (/\.m?js$/.test(file)) for (const next of pathsIn(from, file)) files.add(next);
  }
}

function pathsIn(from: string, file: string): readonly string[] {
  const text = readFileSync(join(from, file), 'utf8');
  return [...text.matchAll(relativePath)].flatMap(({ groups }) => {
    const { path = '', end } = groups ?? {};
    const found = joinUrl(dirname(file), path);
    if (found.startsWith('..') || !existsSync(join(from, found))) return [];
    return statSync(join(from, found)).isDirectory() === (end === '$') ? [found] : [];
  });
}
