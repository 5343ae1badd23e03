import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Mutant } from './mutant.ts';

/** A file of the source tree. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Reads the code and the SQL below `packages/`. */
export const readSources = (root: string): readonly SourceFile[] =>
  readFiles(
    join(root, 'packages'),
    (name) => /^(?!\w+[\\/]test[\\/]).*\.(tsx?|sql)$/.test(name) && !name.endsWith('.test.ts'),
  );

/** Reads the test files below `packages/` and `test/`. */
export const readTestFiles = (root: string): readonly SourceFile[] =>
  ['packages', 'test'].flatMap((folder) => readFiles(join(root, folder), (name) => name.endsWith('.test.ts')));

function readFiles(folder: string, isWanted: (name: string) => boolean): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => isWanted(name))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }));
}

/** Copies everything that tests need; packages are shared. */
export function copyTree(root: string, copy: string): void {
  const left = new Set(['node_modules', 'tools/checkers/node_modules', '.git', 'data']);
  cpSync(root, copy, { recursive: true, filter: (path) => !left.has(relative(root, path)) });
  for (const packages of ['node_modules', 'tools/checkers/node_modules'])
    if (existsSync(join(root, packages))) symlinkSync(join(root, packages), join(copy, packages), 'junction');
}

/** Returns the one source file that contains the code of a mutant, once; throws otherwise. */
export function findMutatedFile(
  sources: readonly SourceFile[],
  { id, search }: Pick<Mutant, 'id' | 'search'>,
): SourceFile {
  const found = sources.flatMap((source) => Array.from({ length: source.text.split(search).length - 1 }, () => source));
  const [source, ...others] = found;
  if (source !== undefined && others.length === 0) return source;
  const places = found.length === 0 ? 'no file' : found.map(({ path }) => path).join(', ');
  throw new Error(
    `Cannot plant '${id}': its code must occur exactly once below packages/: it occurs in ${places}: ${search}`,
  );
}

/** Returns the test file that contains a mutant's title; throws unless there is exactly one. */
export function findTestFile(testFiles: readonly SourceFile[], { id, file, test }: Mutant): SourceFile {
  const [found, ...others] = testFiles.filter(({ path, text }) => basename(path) === file && text.includes(test));
  if (found !== undefined && others.length === 0) return found;
  const rule = `exactly one test file ${file} must contain the title`;
  throw new Error(`Cannot test '${id}': ${rule}: ${others.length + (found ? 1 : 0)} do: ${test}`);
}
