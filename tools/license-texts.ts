import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * The license texts of the packages that modules belong to, or were copied from, which MIT and ISC
 * require beside a copy. Throws if a package has no license file.
 */
export function licenseTexts(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((path) => packageFolder.exec(path.replaceAll('\\', '/'))?.[0] ?? []));
  const sources = modules.filter((path) => /\.tsx?$/.test(path));
  const copied = new Set(sources.map((path) => path.replace(/\.tsx?$/, '.license.txt')).filter(existsSync));
  return [...[...folders].map(licenseText), ...[...copied].map((path) => readFileSync(path, 'utf8'))]
    .sort()
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseText(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: folder });
  if (file === undefined) throw new TypeError(`Cannot bundle ${name}: its license file is missing`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
