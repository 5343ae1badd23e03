import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Manifest, programManifest, serverManifest } from './manifest.ts';
import { manifests, packagesFolder } from './stage-packages.ts';

// `npm run installs`: packages and megabytes of each installation beside their limits, from the
// lock file, node_modules/ and dist/packages/ (`npm run pack`). Fails over a limit by more than
// 10 %.

/** A package of package-lock.json. */
interface LockedPackage {
  readonly version?: string;
  readonly link?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export type Lock = Readonly<Record<string, LockedPackage>>;

/** An installation; a limit of `undefined` is not checked. */
export interface Installation {
  readonly name: string;
  readonly packages: number;
  readonly packagesMax: number | undefined;
  readonly bytes: number;
  readonly megabytesMax: number;
}

/** How far a number may exceed its limit. */
const room = 1.1;

/** Paths in the lock file of packages and of all that they need, without optional peers. */
export function closureOf(lock: Lock, names: readonly string[]): readonly string[] {
  const found = new Set(names.map((name) => pathOf(lock, '', name)));
  // the set grows as it is read
  for (const path of found) {
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = lock[path] ?? {};
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
      found.add(pathOf(lock, path, name));
  }
  return [...found];
}

/** The path of a package that a package at another path imports: the nearest one. */
function pathOf(lock: Lock, from: string, name: string): string {
  const path = `${from}${from === '' ? '' : '/'}node_modules/${name}`;
  if (path in lock) return path;
  if (from === '') throw new Error(`Cannot find ${name}: package-lock.json must contain it`);
  return pathOf(lock, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
}

/** Bytes of a folder on a disk with blocks of 4 KiB, without the packages inside. */
function bytesOf(folder: string): number {
  if (!existsSync(folder)) return 0; // of another platform
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesOf(path);
    return sum + Math.ceil(lstatSync(path).size / 4_096) * 4_096;
  }, 0);
}

/** The rows of a table, and a sentence for each number that exceeds its limit by more than 10 %. */
export function describeInstallations(installations: readonly Installation[]) {
  const rows = installations.map(({ name, packages, packagesMax, bytes, megabytesMax }) => {
    const megabytes = (bytes / 1e6).toFixed(1);
    return `| ${name} | ${packages} | ${packagesMax ?? ''} | ${megabytes} | ${megabytesMax} |`;
  });
  const faults = installations.flatMap(({ name, packages, packagesMax, bytes, megabytesMax }) => [
    ...(packagesMax !== undefined && packages > packagesMax * room
      ? [`${name}: must install at most ${packagesMax} packages: current number is ${packages}`]
      : []),
    ...(bytes > megabytesMax * 1e6 * room
      ? [`${name}: must install at most ${megabytesMax} MB: current size is ${(bytes / 1e6).toFixed(1)} MB`]
      : []),
  ]);
  return { table: ['| installation | packages | limit | MB | limit |', '|---|---|---|---|---|', ...rows], faults };
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installationOf = (folder: string, { name, dependencies = {} }: Manifest) => {
    const own = join(packagesFolder, folder);
    if (!existsSync(own)) throw new Error(`Cannot measure ${name}: dist/packages/${folder} must exist: npm run pack`);
    const paths = closureOf(lock, Object.keys(dependencies));
    // npm installs a version once where the lock file of the clone has it twice
    const versions = new Map(
      paths.map((path) => [`${path.replace(/.*node_modules\//, '')}@${lock[path]?.version}`, path]),
    );
    const bytes = [...versions.values()].reduce((sum, path) => sum + bytesOf(join(root, path)), bytesOf(own));
    return { name, packages: versions.size + 1, bytes };
  };
  const inClone = Object.entries(lock).filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true);
  const { table, faults } = describeInstallations([
    { ...installationOf('cli', programManifest(manifests, 'cli')), packagesMax: 20, megabytesMax: 10 },
    { ...installationOf('mcp', programManifest(manifests, 'mcp')), packagesMax: undefined, megabytesMax: 20 },
    { ...installationOf('subreport', serverManifest(manifests)), packagesMax: 75, megabytesMax: 45 },
    {
      name: 'npm ci in a clone',
      packages: inClone.filter(([path]) => existsSync(join(root, path))).length,
      packagesMax: 550,
      // without the caches of tools, which are in node_modules too
      bytes: inClone.reduce((sum, [path]) => sum + bytesOf(join(root, path)), 0),
      megabytesMax: 550,
    },
  ]);
  console.log(table.join('\n'));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
