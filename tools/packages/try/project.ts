import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type LockedPackages, nameAt } from '../lock-versions.ts';
import { run } from './run.ts';

/** Makes an empty project: a folder with a package.json. */
export function makeProject(folder: string, manifest: object = {}): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  return folder;
}

/** Installs a tarball or packages of the registry into a project, with the npm of this machine. */
export async function install(folder: string, node: string, ...args: readonly string[]): Promise<void> {
  await run('npm', ['install', ...args, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], {
    cwd: folder,
    node,
  });
}

/** Throws if a project has a package at another version than those with which the tests run. */
export function requireLocked(folder: string, lockFile: string): void {
  const placesIn = (file: string): [string, { version?: string }][] =>
    Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages as LockedPackages);
  const locked = Map.groupBy(placesIn(lockFile), ([place]) => nameAt(place));
  const others = placesIn(join(folder, 'package-lock.json')).filter(([place, { version }]) => {
    const versions = new Set(locked.get(nameAt(place))?.map(([, at]) => at.version));
    return versions.size === 1 && !versions.has(version);
  });
  if (others.length > 0) throw new Error(`these must be as in ${lockFile}: ${JSON.stringify(others)}`);
}

/**
 * Unpacks a tarball into a project. Its dependencies are links to those of `modules`, which
 * is about 100 times faster than installing them.
 */
export async function unpack(folder: string, tarball: string, name: string, modules: string): Promise<void> {
  const target = join(folder, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  await run('tar', ['xzf', tarball, '--strip-components=1', '-C', target], { cwd: folder });
  const { dependencies = {} } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  for (const dependency of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(modules, dependency), link, 'junction');
  }
}
