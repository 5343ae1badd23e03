import { cpSync, existsSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Copies everything that tests need; packages are shared. */
export function copyTree(root: string, copy: string): void {
  const left = new Set(['node_modules', 'tools/checkers/node_modules', '.git', 'data']);
  cpSync(root, copy, { recursive: true, filter: (path) => !left.has(relative(root, path)) });
  for (const packages of ['node_modules', 'tools/checkers/node_modules'])
    if (existsSync(join(root, packages))) symlinkSync(join(root, packages), join(copy, packages), 'junction');
}
