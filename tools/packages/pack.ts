import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPackageFaults, findUnlistedImports } from './check-package.ts';
import { clientBytesMax, minifiedBytes } from './client-size.ts';
import { packagesFolder, stagePackages } from './stage-packages.ts';

// Writes the tarballs of all packages, and the wheel and source distribution of the Python client,
// to dist/packages/ and checks the former: `npm run pack`.

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** What `npm pack` reports about a tarball. */
interface PackedPackage {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly unknown[];
}

/** Writes the tarballs and returns npm's report about each. */
async function writeTarballs(folders: readonly string[]): Promise<readonly PackedPackage[]> {
  const args = ['pack', ...folders, '--json', '--ignore-scripts', '--pack-destination', packagesFolder];
  const { stdout } = await promisify(execFile)('npm', args, {
    shell: process.platform === 'win32',
    maxBuffer: 16_777_216,
  });
  return JSON.parse(stdout);
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
];
await packPython();
for (const { filename, size, unpackedSize, files } of packed)
  console.log(
    `dist/packages/${filename}: ${kilobytes(size)}, ${files.length} files, ${kilobytes(unpackedSize)} unpacked`,
  );
console.log(`@subreport/client minified and compressed: ${kilobytes(clientBytes)} of ${kilobytes(clientBytesMax)}`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
