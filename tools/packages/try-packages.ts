import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesFolder } from './stage-packages.ts';
import type { ImportStyle } from './try/client-programs.ts';
import { install, makeProject, requireLocked, unpack } from './try/project.ts';
import { run } from './try/run.ts';
import { installRuntimes, systemNode } from './try/runtimes.ts';
import { type DemoService, readPages, readReport, startDemo } from './try/service.ts';
import { tryBrowser, tryRuntime, tryTypes } from './try/try-client.ts';
import { tryAssistant, tryCommands } from './try/try-programs.ts';

// Installs the tarballs of `npm run pack` into empty projects and uses them on all supported
// runtimes: `npm run try-packages`. Runtimes and compilers are downloaded from npm.
// With --quick, uses only the Node.js versions of this machine, without npm.

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const tarballOf = (name: string): string => join(packagesFolder, `${name}-${version}.tgz`);
const serverTarball = tarballOf('subreport');
const clientTarball = tarballOf('subreport-client');
const cliTarball = tarballOf('subreport-cli');
const mcpTarball = tarballOf('subreport-mcp');
const styles: readonly ImportStyle[] = ['import', 'import()', 'require()'];
const resolutions = ['nodenext', 'bundler'] as const;
const npx = ['npx', 'subreport', 'serve', '--demo'];

let failed = 0;
/** Prints a row of the table: who uses a package, how, and the result. */
async function attempt(user: string, use: string, work: () => Promise<string>): Promise<void> {
  const result = await work().catch((error: Error) => {
    failed += 1;
    console.error(error.message);
    return 'FAILED';
  });
  console.log(`| ${user} | ${use} | ${result} |`);
}

/** Starts a demo, uses it, and stops it. */
async function withDemo<T>(demo: Promise<DemoService>, use: (service: DemoService) => Promise<T>): Promise<T> {
  const service = await demo;
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

async function tryQuickly(folder: string): Promise<void> {
  const modules = join(root, 'node_modules');
  const unpackInto = async (name: string, tarball: string, specifier: string): Promise<string> => {
    const project = makeProject(join(folder, name));
    await unpack(project, tarball, specifier, modules);
    return project;
  };
  const server = await unpackInto('server', serverTarball, 'subreport');
  const client = await unpackInto('client', clientTarball, '@subreport/client');
  const cli = await unpackInto('cli', cliTarball, '@subreport/cli');
  const mcp = await unpackInto('mcp', mcpTarball, '@subreport/mcp');
  const launcher = join(server, 'node_modules/subreport/lib/service/cli/subreport.mjs');
  const command = [process.execPath, launcher, 'serve', '--demo', '--workers', '2'];
  const user = `Node.js ${process.versions.node}`;
  await withDemo(startDemo(server, process.execPath, ...command), async (service) => {
    await attempt(user, 'subreport serve --demo --workers 2', () => readReport(service));
    await attempt(user, 'console and API reference', () => readPages(service));
    await attempt(user, '@subreport/cli', () =>
      tryCommands(cli, [process.execPath, join(cli, 'node_modules/@subreport/cli/lib/cli/subreport.mjs')], service),
    );
    await attempt(user, '@subreport/mcp', () =>
      tryAssistant(
        mcp,
        [process.execPath, join(mcp, 'node_modules/@subreport/mcp/lib/mcp/subreport-mcp.mjs')],
        service,
      ),
    );
    for (const node of new Set([process.execPath, systemNode() ?? process.execPath]))
      await attempt(`client on ${node.replace(root, '')}`, 'import', () =>
        tryRuntime(client, [node], 'import', service),
      );
  });
  for (const resolution of resolutions)
    await attempt('TypeScript 7', resolution, () =>
      tryTypes(client, [process.execPath, join(modules, 'typescript/bin/tsc')], resolution),
    );
}

async function tryAll(folder: string): Promise<void> {
  const fileOf = await installRuntimes(join(folder, 'runtimes'));
  const nodeOf = (release: '20' | '22' | '22.12' | '24' | '26'): string => fileOf(`node-${release}`, 'bin/node');
  for (const release of ['24', '26'] as const)
    await tryServer(join(folder, `server-${release}`), release, nodeOf(release));
  for (const [release, tarball, oldest] of [
    ['22', serverTarball, 24.7],
    ['20', cliTarball, 22],
    ['20', mcpTarball, 22],
  ] as const)
    await attempt(`Node.js ${release}`, `${basename(tarball)}, which needs a newer one`, () =>
      expectAdvice(join(folder, `old-${basename(tarball)}`), nodeOf(release), tarball, oldest),
    );

  const client = makeProject(join(folder, 'client'), { type: 'module' });
  await install(client, nodeOf('20'), clientTarball);
  await withDemo(startDemo(join(folder, 'server-26'), nodeOf('26'), ...npx), async (service) => {
    for (const release of ['22.12', '22', '24', '26'] as const)
      await tryPrograms(join(folder, `programs-${release}`), release, nodeOf(release), service);
    for (const release of ['20', '22', '24', '26'] as const)
      for (const style of styles)
        await attempt(`client on Node.js ${release}`, style, () =>
          tryRuntime(client, [nodeOf(release)], style, service),
        );
    for (const style of styles) {
      await attempt('client on Deno', style, () =>
        tryRuntime(client, [fileOf('deno', 'deno'), 'run', '-A'], style, service),
      );
      await attempt('client on Bun', style, () => tryRuntime(client, [fileOf('bun', 'bin/bun')], style, service));
    }
    await attempt('client in Chromium', 'import', () => tryBrowser(client, service));
  });
  for (const compiler of ['5.4', '7'] as const)
    for (const resolution of resolutions)
      await attempt(`client with TypeScript ${compiler}`, resolution, () =>
        tryTypes(client, [nodeOf('26'), fileOf(`typescript-${compiler}`, 'bin/tsc')], resolution),
      );
}

/** Installs both programs of readers under one Node.js version, and uses them. */
async function tryPrograms(folder: string, release: string, node: string, service: DemoService): Promise<void> {
  const hasSqlite = release !== '22.12';
  await attempt(`Node.js ${release}`, `npm install @subreport/cli, npx subreport`, async () => {
    const project = makeProject(join(folder, 'cli'));
    await install(project, node, cliTarball);
    return tryCommands(project, ['npx', 'subreport'], service, { node, hasSqlite });
  });
  await attempt(`Node.js ${release}`, 'npm install @subreport/mcp, npx @subreport/mcp', async () => {
    const project = makeProject(join(folder, 'mcp'));
    await install(project, node, mcpTarball);
    return tryAssistant(project, ['npx', '@subreport/mcp'], service, node);
  });
}

/** Installs the server in a project and globally, under one Node.js version. */
async function tryServer(folder: string, major: string, node: string): Promise<void> {
  await attempt(`Node.js ${major}`, 'npm install, npx subreport serve --demo', async () => {
    await install(makeProject(folder), node, serverTarball);
    requireLocked(folder, join(root, 'package-lock.json'));
    return withDemo(startDemo(folder, node, ...npx), readReport);
  });
  await attempt(`Node.js ${major}`, 'npm install --global, subreport serve --demo', async () => {
    const prefix = makeProject(join(folder, 'global'));
    await install(prefix, node, '--global', '--prefix', prefix, serverTarball);
    return withDemo(startDemo(prefix, node, join(prefix, 'bin/subreport'), 'serve', '--demo'), readReport);
  });
}

/** Expects the program of a package to say that this Node.js is too old. */
async function expectAdvice(folder: string, node: string, tarball: string, oldest: number): Promise<string> {
  await install(makeProject(folder), node, tarball);
  const [program = ''] = readdirSync(join(folder, 'node_modules/.bin')).filter((name) => name.startsWith('subreport'));
  const message = await run('npx', [program, 'whoami'], { cwd: folder, node }).then(
    () => 'it started',
    (error: Error) => error.message,
  );
  const advice = `install Node.js ${oldest} or newer`;
  if (!message.includes(`Cannot start ${program}: `) || !message.includes(advice)) throw new Error(message);
  return `says to ${advice}`;
}

const folder = mkdtempSync(join(tmpdir(), 'subreport-packages-'));
console.log('| with | use | result |\n|---|---|---|');
try {
  await (process.argv.includes('--quick') ? tryQuickly(folder) : tryAll(folder));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failed > 0) process.exitCode = 1;
