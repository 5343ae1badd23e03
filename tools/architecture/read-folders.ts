import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

/** A folder of source files, with the folders in it. */
export interface Folder {
  readonly name: string;
  /** Source files directly in the folder, without tests. */
  readonly files: number;
  readonly folders: readonly Folder[];
  /** Imports between its folders; an import by a file of a subfolder counts for the folder. */
  readonly imports: readonly FolderImports[];
}

/** How many import statements of one folder name a file of another. */
export interface FolderImports {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Reads the folders below a root, without those that hold no source file. */
export function readFolders(root: string): Folder {
  const files = readdirSync(root, { recursive: true })
    .map((file) => String(file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort();
  const imports = files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')));
  return describeFolder('', files, imports);
}

function importsOf(file: string, source: string): Import[] {
  return [...source.matchAll(/(?:\bfrom|\bimport\(?)\s*'(\.[^']+)'/g)].map(([, path = '']) => ({
    from: file,
    to: join(dirname(file), path),
  }));
}

/** Describes the folder that holds all `files`; their paths are relative to the root. */
function describeFolder(path: string, files: readonly string[], imports: readonly Import[]): Folder {
  const below = (file: string): string | undefined => {
    const inside = relative(path, file);
    return inside.startsWith('..') || !inside.includes('/') ? undefined : inside.split('/')[0];
  };
  const names = [...new Set(files.map(below))].filter((name) => name !== undefined);
  const counts = new Map<string, FolderImports>();
  for (const each of imports) {
    const [from, to] = [below(each.from), below(each.to)];
    if (from === undefined || to === undefined || from === to) continue;
    const pair = `${from} ${to}`;
    counts.set(pair, { from, to, count: (counts.get(pair)?.count ?? 0) + 1 });
  }
  return {
    name: path.split('/').at(-1) ?? '',
    files: files.filter((file) => dirname(file) === (path === '' ? '.' : path)).length,
    folders: names.map((name) =>
      describeFolder(
        join(path, name),
        files.filter((file) => below(file) === name),
        imports,
      ),
    ),
    imports: [...counts.values()],
  };
}
