import { globSync, readFileSync } from 'node:fs';

/** Licenses that allow use in a product of any license, if their text is kept. */
const permissive = ['Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];

interface LockedPackage {
  readonly license?: string;
  readonly dev?: true;
  readonly link?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * The packages that an installation of the service contains, also within the scripts of the
 * consoles, as a list by license. Throws if the license of one is unknown or not permissive.
 */
export function licenseTable(
  lockfile = new URL('../package-lock.json', import.meta.url),
  imported = consoleImports(),
): string {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as { packages: Record<string, LockedPackage> };
  const bundled = withDependencies(imported, packages);
  const rows = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && (!dev || bundled.has(path)) && !link)
    .map(([path, { license }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      if (license === undefined || !permissive.includes(license)) {
        throw new TypeError(
          `Cannot use ${name}: its license must be one of ${permissive.join(', ')}: current value is '${license}'`,
        );
      }
      return { license, entry: name };
    });
  return permissive
    .map(
      (license) => [license, new Set(rows.filter((row) => row.license === license).map(({ entry }) => entry))] as const,
    )
    .filter(([, entries]) => entries.size > 0)
    .map(([license, entries]) => `- **${license}**: ${[...entries].toSorted().join(', ')}`)
    .join('\n');
}

/** The packages that the sources of the consoles import. */
function consoleImports(): string[] {
  const sources = globSync('packages/console/**/*.{ts,tsx}', { cwd: new URL('../', import.meta.url) });
  return sources
    .filter((source) => !source.endsWith('.test.ts'))
    .flatMap((source) => [...readFileSync(new URL(`../${source}`, import.meta.url), 'utf8').matchAll(packageImport)])
    .map(([, name = '']) => name);
}

const packageImport = /^(?:import|export|\}) [^'\n]*'((?:@[^/'\n]+\/)?[^./'\n][^/'\n]*)/gm;

/** Paths in the lockfile of packages and of everything that they depend on. */
function withDependencies(names: readonly string[], packages: Record<string, LockedPackage>): ReadonlySet<string> {
  const paths = new Set(names.map((name) => `node_modules/${name}`));
  // the set grows as it is read
  for (const path of paths)
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
      const nested = `${path}/node_modules/${name}`;
      paths.add(nested in packages ? nested : `node_modules/${name}`);
    }
  return paths;
}
