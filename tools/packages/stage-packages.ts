import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildProgram } from '../../packages/service/cli/command-line.ts';
import { buildConsoles } from '../build-console.ts';
import { manPage } from '../man-page.ts';
import { linkCompiledFiles } from './link-compiled-files.ts';
import { clientManifest, type Manifest, type RootManifest, serverManifest } from './manifest.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** The folder of the tarballs and of their unpacked contents. */
export const packagesFolder = join(root, 'dist/packages');

/** A folder with the files of a package's tarball. */
export interface StagedPackage {
  readonly folder: string;
  readonly manifest: Manifest & {
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly peerDependencies?: Readonly<Record<string, string>>;
  };
}

/** Compiles both packages, and adds the other files. Throws if the file of a path is missing. */
export async function stagePackages(): Promise<readonly [server: StagedPackage, client: StagedPackage]> {
  rmSync(packagesFolder, { recursive: true, force: true });
  const rootManifest: RootManifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const server = { folder: join(packagesFolder, 'subreport'), manifest: serverManifest(rootManifest) };
  const client = { folder: join(packagesFolder, 'client'), manifest: clientManifest(rootManifest) };
  await Promise.all([stageServer(server.folder), stageClient(client.folder)]);
  for (const { folder, manifest } of [server, client]) {
    const faults = linkCompiledFiles(folder);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    copyInto(folder, 'LICENSE', 'LICENSE');
  }
  return [server, client];
}

/** `lib/` has the layout of `packages/`, so that paths to files beside it are the same in both. */
async function stageServer(folder: string): Promise<void> {
  // `npm run ok` checks the types of all sources
  const compiled = compile('tools/packages/tsconfig.server.json', '--noCheck');
  await Promise.all([compiled, buildConsoles(join(folder, 'dist/console'))]);
  cpSync(join(root, 'packages'), join(folder, 'lib'), { recursive: true, filter: isPacked });
  for (const file of ['openapi.json', 'openapi-operator.json', 'README.md', 'CHANGELOG.md'])
    copyInto(folder, file, file);
  const silent = { write: () => undefined };
  mkdirSync(join(folder, 'man'), { recursive: true });
  writeFileSync(join(folder, 'man/subreport.1'), manPage(await buildProgram({ stdout: silent, stderr: silent })));
}

/** Whether a path is copied unchanged: not sources, dumps of the schema or files of the client. */
const isPacked = (path: string): boolean =>
  !/\.ts$|[/\\]schema\.\w+\.sql$|[/\\]packages[/\\](?:client|console)$/.test(path);

async function stageClient(folder: string): Promise<void> {
  await compile('tools/packages/tsconfig.client.json');
  copyInto(folder, 'packages/client/README.md', 'README.md');
}

async function compile(project: string, ...flags: readonly string[]): Promise<void> {
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', project, ...flags], {
    cwd: root,
    shell: process.platform === 'win32',
  }).catch(({ stdout }: { stdout: string }) => {
    throw new Error(`Cannot compile ${project}:\n${stdout}`);
  });
}

function copyInto(folder: string, from: string, to: string): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, from), join(folder, to));
}
