import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * A relative path of a source in a string. The compiler changes the extension in imports of
 * modules, but neither in `new URL('./worker.ts', import.meta.url)` nor in declarations.
 */
const sourcePath = /(?<=['"])(\.{1,2}\/[^'"\n]*)\.ts(?=['"])/g;

/** A compiled file with the paths of sources replaced by those of compiled files. */
export const withCompiledPaths = (text: string): string => text.replaceAll(sourcePath, '$1.js');

/**
 * Replaces the paths of sources in all compiled modules and declarations below a folder. Returns an
 * error message for each path without a compiled file.
 */
export function linkCompiledFiles(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.(?:js|mjs|d\.ts)$/.test(file)).flatMap((file) => linkFile(join(folder, file)));
}

function linkFile(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, withCompiledPaths(text));
  const paths = [...text.matchAll(sourcePath)].map(([, path = '']) => path);
  const extension = file.endsWith('.d.ts') ? '.d.ts' : '.js';
  return paths
    .filter((path) => !existsSync(join(dirname(file), path + extension)))
    .map((path) => `Cannot pack ${file}: ${path}.ts must be compiled, too`);
}
