import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

// Refuses exports of packages/ that no other file imports. `node tools/check-exports.ts` prints
// each. With --tests it only lists those that nothing but tests imports.

/** The exports for users of the client library. */
const publicEntry = 'packages/client/index.ts';

/**
 * The exports of packages/ but console/, as `file#name`, that no other of the sources (texts by
 * path) imports.
 */
export function unusedExports(sources: ReadonlyMap<string, string>): readonly string[] {
  const used = new Set([...sources].flatMap(([file, source]) => importsOf(file, source)));
  return [...sources]
    .filter(([file]) => /^packages\/(?!console\/|\w+\/test\/)/.test(file) && file !== publicEntry)
    .flatMap(([file, source]) => (used.has(`${file}#*`) ? [] : exportsOf(source).map((name) => `${file}#${name}`)))
    .filter((name) => !used.has(name));
}

function exportsOf(source: string): string[] {
  const declarations = source.matchAll(
    /^export (?:abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
  );
  const lists = source.matchAll(/^export (?:type )?\{([^}]*)\}/gm);
  return [
    ...[...declarations].map(([, name = '']) => name),
    ...[...lists].flatMap(([, list = '']) => namesIn(list, / as (\w+)$/)),
  ];
}

/** Imports and re-exports of a file, as `file#name`; `file#*` means the whole file. */
function importsOf(file: string, source: string): string[] {
  const named = source.matchAll(
    /\b(?:import|export|const) (?:type )?\{([^}]*)\} (?:from |= await import\()'(\.[^']+)'/g,
  );
  const whole = source.matchAll(/(?:\* as \w+ from |export \* from |(?<!\} = await )import\()'(\.[^']+)'/g);
  return [
    ...[...named].flatMap(([, list = '', path = '']) =>
      namesIn(list, /^(\w+)/).map((name) => `${join(dirname(file), path)}#${name}`),
    ),
    ...[...whole].map(([, path = '']) => `${join(dirname(file), path)}#*`),
  ];
}

/** The names of a list in braces; `pick` finds one of the two of `a as b`. */
function namesIn(list: string, pick: RegExp): string[] {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '')
    .map((item) => pick.exec(item)?.[1] ?? item);
}

if (import.meta.main) {
  const files = ['packages', 'tools', 'bench', 'test'].flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,tsx}`, { exclude: ['**/node_modules'] }).map((file) => file.replaceAll('\\', '/')),
  );
  const isTest = (file: string): boolean => /^(?:packages\/\w+\/)?test\//.test(file) || file.endsWith('.test.ts');
  const isRead = process.argv.includes('--tests') ? (file: string) => !isTest(file) : () => true;
  const sources = files.filter(isRead);
  for (const name of unusedExports(new Map(sources.map((file) => [file, readFileSync(file, 'utf8')])))) {
    console.log(name);
    process.exitCode = 1;
  }
}
