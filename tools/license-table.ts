import { globSync, readFileSync } from 'node:fs';

/** Licenses that allow use in a product of any license, if their text is kept. */
const permissive = ['Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'];

const root = new URL('../', import.meta.url);

/** Packages with a Node.js, which no published package depends on. */
const nodeOfClones = /^node_modules\/node-(?:bin-)?(?:darwin|linux|win)-\w+$/;

interface LicensedPackage {
  readonly name: string;
  readonly license?: string | undefined;
}

interface LockedPackage {
  readonly license?: string;
  readonly dev?: true;
  readonly link?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * The packages that installations of ours contain, also within the scripts of the consoles or
 * copied into them, as a list by license. Throws if the license of one is unknown or
 * not permissive.
 */
export function licenseTable(
  lockfile = new URL('package-lock.json', root),
  imported = consoleImports(),
  copied = copiedPackages(),
): string {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as { packages: Record<string, LockedPackage> };
  const bundled = withDependencies(imported, packages);
  const installed = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && (!dev || bundled.has(path)) && !link)
    .filter(([path]) => !nodeOfClones.test(path))
    .map(([path, { license }]): LicensedPackage => {
      return { name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), license };
    });
  const rows = [...installed, ...copied].map(({ name, license }) => {
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

/** The packages from which sources of the consoles were copied. */
function copiedPackages(): LicensedPackage[] {
  const texts = globSync('packages/console/**/*.license.txt', { cwd: root }).map((path) =>
    readFileSync(new URL(path, root), 'utf8'),
  );
  return texts.map((text) => {
    const [, name = '', license] = /^(\S+) \S+\n\n(\S+) License\n/.exec(text) ?? [];
    return { name, license };
  });
}

/** The packages that the sources of the consoles import. */
function consoleImports(): string[] {
  const sources = globSync('packages/console/**/*.{ts,tsx}', { cwd: root });
  return sources
    .filter((source) => !source.endsWith('.test.ts') && !source.includes('/test/'))
    .flatMap((source) => [...readFileSync(new URL(source, root), 'utf8').matchAll(packageImport)])
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
