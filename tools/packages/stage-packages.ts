import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildConsoles } from '../build-console.ts';
import { copyReachable } from './copy-reachable.ts';
import { linkCompiledFiles } from './link-compiled-files.ts';
import { lockVersions } from './lock-versions.ts';
import { clientManifest, type Manifest, type Manifests, programManifest, serverManifest } from './manifest.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));

/** The manifests of the repository. */
export const manifests: Manifests = {
  root: readJson('package.json'),
  client: readJson('packages/client/package.json'),
  terminal: readJson('packages/terminal/package.json'),
  cli: readJson('packages/cli/package.json'),
  mcp: readJson('packages/mcp/package.json'),
};

/** The folder of the tarballs and of their unpacked contents. */
export const packagesFolder = join(root, 'dist/packages');
const compiledFolder = join(root, 'dist/compiled');

/** A folder with the files of a package's tarball. */
export interface StagedPackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Compiles all packages, and adds the other files. Throws if the file of a path is missing. */
export async function stagePackages(): Promise<readonly StagedPackage[]> {
  for (const folder of [packagesFolder, compiledFolder]) rmSync(folder, { recursive: true, force: true });
  await Promise.all([compilePrograms(), stageClient(), buildConsoles(join(packagesFolder, 'subreport/dist/console'))]);
  stageProgram('subreport', ['service/cli/subreport.mjs']);
  stageProgram('cli', ['cli/subreport.mjs']);
  stageProgram('mcp', ['mcp/subreport-mcp.mjs']);
  rmSync(compiledFolder, { recursive: true });
  for (const file of ['openapi.json', 'openapi-operator.json', 'README.md', 'CHANGELOG.md'])
    copyInto('subreport', file, file);
  for (const name of ['client', 'cli', 'mcp']) copyInto(name, `packages/${name}/README.md`, 'README.md');
  return [
    finish('subreport', serverManifest(manifests)),
    finish('client', clientManifest(manifests)),
    finish('cli', programManifest(manifests, 'cli')),
    finish('mcp', programManifest(manifests, 'mcp')),
  ];
}

/** Compiles the service and the programs of readers, beside files that are copied unchanged. */
async function compilePrograms(): Promise<void> {
  // `npm run ok` checks the types of all sources
  await compile('tools/packages/tsconfig.programs.json', '--noCheck');
  cpSync(join(root, 'packages'), compiledFolder, { recursive: true, filter: isCopied });
  link(compiledFolder);
}

const isCopied = (path: string): boolean =>
  !/\.tsx?$|[/\\]packages[/\\](?:client|console)$|[/\\]packages[/\\]\w+[/\\]test$/.test(path);

/** `lib/` has the layout of `packages/`, so that paths to files beside it are the same in both. */
function stageProgram(name: string, entries: readonly string[]): void {
  copyReachable(compiledFolder, join(packagesFolder, name, 'lib'), entries);
}

async function stageClient(): Promise<void> {
  await compile('tools/packages/tsconfig.client.json');
  link(join(packagesFolder, 'client'));
}

function finish(name: string, manifest: Manifest): StagedPackage {
  const folder = join(packagesFolder, name);
  const { dependencies } = manifest;
  const locked = dependencies && { dependencies: lockVersions(dependencies, readJson('package-lock.json').packages) };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, ...locked }, null, 2)}\n`);
  copyInto(name, 'LICENSE', 'LICENSE');
  return { folder, manifest };
}

async function compile(project: string, ...flags: readonly string[]): Promise<void> {
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', project, ...flags], {
    cwd: root,
    shell: process.platform === 'win32',
  }).catch(({ stdout }: { stdout: string }) => {
    throw new Error(`Cannot compile ${project}:\n${stdout}`);
  });
}

function link(folder: string): void {
  const faults = linkCompiledFiles(folder);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

function copyInto(name: string, from: string, to: string): void {
  mkdirSync(join(packagesFolder, name), { recursive: true });
  cpSync(join(root, from), join(packagesFolder, name, to));
}
