import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPackageFaults, findUnlistedImports } from './check-package.ts';
import { clientBytesMax, minifiedBytes } from './client-size.ts';
import { contentsTable, type PackedPackage, staleRow } from './contents.ts';
import { packagesFolder, stagePackages } from './stage-packages.ts';

// Writes the tarballs of all packages, and the wheel and source distribution of the Python client,
// to dist/packages/ and checks the former: `npm run pack`.
// With --write, it updates the table of packages.md; otherwise it checks the table.

const page = fileURLToPath(new URL('../../docs/contributors/packages.md', import.meta.url));
const tableInPage = /(?<=<!-- written by npm run pack -- --write -->\n).*?(?=\n<!-- end -->)/s;

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** Writes the tarballs and returns npm's report about each. */
async function writeTarballs(folders: readonly string[]): Promise<readonly PackedPackage[]> {
  const args = ['pack', ...folders, '--json', '--ignore-scripts', '--pack-destination', packagesFolder];
  const { stdout } = await promisify(execFile)('npm', args, {
    shell: process.platform === 'win32',
    maxBuffer: 16_777_216,
  });
  return JSON.parse(stdout);
}

/** Updates the table in the documentation, or returns an error message if it is stale. */
function checkPage(table: string, isWritten: boolean): readonly string[] {
  const text = readFileSync(page, 'utf8');
  if (isWritten) writeFileSync(page, text.replace(tableInPage, table));
  const stale = isWritten ? undefined : staleRow(tableInPage.exec(text)?.[0] ?? '', table);
  if (stale === undefined) return [];
  return [
    `docs/contributors/packages.md must show the contents of the packages (npm run pack -- --write): current row is '${stale}'`,
  ];
}

/** Writes the packages of the Python client, unless Python is missing. */
async function packPython(): Promise<void> {
  const script = fileURLToPath(new URL('../../clients/python/build_package.py', import.meta.url));
  const { stdout } = await promisify(execFile)('python3', [script, packagesFolder]).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    return { stdout: 'SKIPPED: the Python client was not packed: install python3\n' };
  });
  process.stdout.write(stdout.replaceAll(packagesFolder, 'dist/packages'));
}

const staged = await stagePackages();
const packed = await writeTarballs(staged.map(({ folder }) => folder));
const clientBytes = await minifiedBytes(join(packagesFolder, 'client/lib/client/index.js'));
const faults = [
  ...(await Promise.all(packed.map(({ filename }) => findPackageFaults(join(packagesFolder, filename))))).flat(),
  ...staged.flatMap(findUnlistedImports),
  ...(clientBytes > clientBytesMax
    ? [
        `The client library must be at most ${kilobytes(clientBytesMax)}, minified and compressed: it is ${kilobytes(clientBytes)}`,
      ]
    : []),
  ...checkPage(contentsTable(packed), process.argv.includes('--write')),
];
await packPython();
for (const { filename, size, unpackedSize, files } of packed)
  console.log(
    `dist/packages/${filename}: ${kilobytes(size)}, ${files.length} files, ${kilobytes(unpackedSize)} unpacked`,
  );
console.log(`@subreport/client minified and compressed: ${kilobytes(clientBytes)} of ${kilobytes(clientBytesMax)}`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
