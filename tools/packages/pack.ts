import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findForeignImports, findPackageFaults } from './check-package.ts';
import { clientBytesMax, minifiedBytes } from './client-size.ts';
import { packagesFolder, stagePackages } from './stage-packages.ts';

// Writes the tarballs of both packages to dist/packages/ and checks them (`npm run pack`).

/** What `npm pack` reports about a tarball. */
interface PackedPackage {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** Writes both tarballs and returns what npm says of them. */
async function writeTarballs(folders: readonly string[]): Promise<readonly PackedPackage[]> {
  const args = ['pack', ...folders, '--json', '--ignore-scripts', '--pack-destination', packagesFolder];
  const { stdout } = await promisify(execFile)('npm', args, {
    shell: process.platform === 'win32',
    maxBuffer: 16_777_216,
  });
  return JSON.parse(stdout);
}

const [server, client] = await stagePackages();
const packed = await writeTarballs([server.folder, client.folder]);
const clientBytes = await minifiedBytes(join(client.folder, 'lib/client/index.js'));
const faults = [
  ...(await Promise.all(packed.map(({ filename }) => findPackageFaults(join(packagesFolder, filename))))).flat(),
  ...findForeignImports(client.folder),
  ...(clientBytes > clientBytesMax
    ? [
        `The client library must be at most ${kilobytes(clientBytesMax)}, minified and compressed: it is ${kilobytes(clientBytes)}`,
      ]
    : []),
];
for (const { filename, size, unpackedSize, files } of packed)
  console.log(
    `dist/packages/${filename}: ${kilobytes(size)}, ${files.length} files, ${kilobytes(unpackedSize)} unpacked`,
  );
console.log(`@subreport/client minified and compressed: ${kilobytes(clientBytes)} of ${kilobytes(clientBytesMax)}`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
