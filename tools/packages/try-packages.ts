import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../free-port.ts';
import { packagesFolder } from './stage-packages.ts';
import type { ImportStyle } from './try/client-programs.ts';
import { install, makeProject, unpack } from './try/project.ts';
import { run } from './try/run.ts';
import { installRuntimes, systemNode } from './try/runtimes.ts';
import { type DemoService, readPages, readReport, startDemo } from './try/service.ts';
import { tryBrowser, tryRuntime, tryTypes } from './try/try-client.ts';

// Installs the tarballs of `npm run pack` into empty projects and uses them on all supported
// runtimes: `npm run try-packages`. Runtimes and compilers are downloaded from npm.
// With --quick, uses only the Node.js versions of this machine, without npm.

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const serverTarball = join(packagesFolder, `subreport-${version}.tgz`);
const clientTarball = join(packagesFolder, `subreport-client-${version}.tgz`);
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
  const server = makeProject(join(folder, 'server'));
  await unpack(server, serverTarball, 'subreport', modules);
  const client = makeProject(join(folder, 'client'));
  await unpack(client, clientTarball, '@subreport/client', modules);
  const launcher = join(server, 'node_modules/subreport/lib/service/cli/subreport.mjs');
  const command = [process.execPath, launcher, 'serve', '--demo', '--workers', '2'];
  await withDemo(startDemo(server, process.execPath, ...command), async (service) => {
    const user = `Node.js ${process.versions.node}`;
    await attempt(user, 'subreport serve --demo --workers 2', () => readReport(service));
    await attempt(user, 'console and API reference', () => readPages(service));
    await attempt(user, 'a program of docs/contributors/packages.md', () => tryProgram(server));
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

/** Runs the program in the documentation that starts the service in its own process. */
async function tryProgram(folder: string): Promise<string> {
  const page = readFileSync(join(root, 'docs/contributors/packages.md'), 'utf8');
  const program = /(?<=```js\n).*?(?=```)/s.exec(page)?.[0] ?? 'throw new Error("there is none")';
  writeFileSync(
    join(folder, 'program.mjs'),
    program.replace("PORT: '8080'", `PORT: '${await freePort()}', MANAGEMENT_PORT: '0'`),
  );
  await run(process.execPath, ['program.mjs'], { cwd: folder });
  return 'started and stopped';
}

async function tryAll(folder: string): Promise<void> {
  const fileOf = await installRuntimes(join(folder, 'runtimes'));
  const nodes = (['20', '22', '26'] as const).map((major) => [major, fileOf(`node-${major}`, 'bin/node')] as const);
  for (const [major, node] of nodes) await tryServer(join(folder, `server-${major}`), major, node);

  const [[, oldest], , [, newest]] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  await attempt('Node.js 20 without a pinned Node.js', 'npx subreport', () =>
    expectAdvice(join(folder, 'bare'), oldest),
  );

  const client = makeProject(join(folder, 'client'), { type: 'module' });
  await install(client, oldest, clientTarball);
  await withDemo(startDemo(join(folder, 'server-26'), newest, ...npx), async (service) => {
    for (const [major, node] of nodes)
      for (const style of styles)
        await attempt(`client on Node.js ${major}`, style, () => tryRuntime(client, [node], style, service));
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
        tryTypes(client, [newest, fileOf(`typescript-${compiler}`, 'bin/tsc')], resolution),
      );
}

/** Installs the server in a project and globally, under one Node.js version. */
async function tryServer(folder: string, major: string, node: string): Promise<void> {
  await attempt(`Node.js ${major}`, 'npm install, npx subreport serve --demo', async () => {
    await install(makeProject(folder), node, serverTarball);
    return withDemo(startDemo(folder, node, ...npx), readReport);
  });
  await attempt(`Node.js ${major}`, 'npm install --global, subreport serve --demo', async () => {
    const prefix = makeProject(join(folder, 'global'));
    await install(prefix, node, '--global', '--prefix', prefix, serverTarball);
    return withDemo(startDemo(prefix, node, join(prefix, 'bin/subreport'), 'serve', '--demo'), readReport);
  });
}

/** Expects the command to say what to install: Node.js is too old, and the pinned one is absent. */
async function expectAdvice(folder: string, node: string): Promise<string> {
  await install(makeProject(folder), node, '--omit=optional', serverTarball);
  const message = await run('npx', ['subreport', 'serve'], { cwd: folder, node }).then(
    () => 'it started',
    (error: Error) => error.message,
  );
  if (!/Cannot start subreport: .*; install Node\.js 26/.test(message)) throw new Error(message);
  return 'says to install Node.js 26';
}

const folder = mkdtempSync(join(tmpdir(), 'subreport-packages-'));
console.log('| with | use | result |\n|---|---|---|');
try {
  await (process.argv.includes('--quick') ? tryQuickly(folder) : tryAll(folder));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failed > 0) process.exitCode = 1;
