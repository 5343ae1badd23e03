import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * The license texts of the packages that modules belong to, which MIT and ISC require beside a
 * copy. Throws if a package has no license file.
 */
export function licenseTexts(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((path) => packageFolder.exec(path.replaceAll('\\', '/'))?.[0] ?? []));
  return [...folders]
    .map(licenseText)
    .sort()
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseText(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: folder });
  if (file === undefined) throw new TypeError(`Cannot bundle ${name}: its license file is missing`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
