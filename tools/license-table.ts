import { readFileSync } from 'node:fs';

/** Licenses that allow use in a product of any license, if their text is kept. */
const permissive = ['Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: true;
  readonly link?: true;
}

/**
 * The packages that an installation of the service contains, with versions and licenses, as a
 * table. Throws if the license of one is unknown or not permissive.
 */
export function licenseTable(lockfile = new URL('../package-lock.json', import.meta.url)): string {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as { packages: Record<string, LockedPackage> };
  const rows = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
    .map(([path, { version, license }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      if (license === undefined || !permissive.includes(license)) {
        throw new TypeError(
          `Cannot use ${name}: its license must be one of ${permissive.join(', ')}: current value is '${license}'`,
        );
      }
      return `| ${name} | ${version} | ${license} |`;
    });
  return ['| package | version | license |', '|---|---|---|', ...new Set(rows.toSorted())].join('\n');
}
