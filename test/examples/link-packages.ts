import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { checkersFolder } from '../../tools/has-checkers.ts';

/** Packages that examples/README.md has installed before some lines; the checkers have them. */
const packages = ['@duckdb/node-api', 'react', 'react-dom'];

/** Gives a copy of the examples the packages, if the checkers are installed. */
export function linkPackages(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@duckdb'), { recursive: true });
  for (const name of packages) {
    const installed = join(checkersFolder, 'node_modules', name);
    if (existsSync(installed)) symlinkSync(installed, join(folder, 'node_modules', name));
  }
}
