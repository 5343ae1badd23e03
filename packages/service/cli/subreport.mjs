#!/usr/bin/env node
// Starts the command line with a Node.js version that can run it, and the flags that a command
// needs: the current Node.js if it is recent enough, otherwise the one from the dependencies of the
// package. Plain JavaScript, because it must run on Node.js 20 and later.
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNewEnough, nodeFault } from './required-node.mjs';

const require = nodeModule.createRequire(import.meta.url);
const [first, ...others] = process.argv.slice(2);

if (others.length === 0 && (first === '--version' || first === '-V')) {
  // here, because the command line takes ten times as long, and needs a second process on Node 20
  process.stdout.write(`${require('../../../package.json').version}\n`);
} else {
  if (isStartedByNpm()) await import('./end-with-parent.mjs');
  await start();
}

/**
 * Whether npx, or a script of npm whose last command is `subreport`, started this command and waits
 * for it. Without npm, a process may outlive the shell that started it, and so may one that npm's
 * script started in the background, or through another program.
 */
function isStartedByNpm() {
  const last = /(?:^|&&\s*)(?:\w+=\S+\s+)*(["']?)(?:[^\s"'&]*\/)?subreport\1(?:\s[^&]*)?$/;
  return last.test(process.env.npm_lifecycle_script ?? '');
}

/** Runs the command in this process if it can, otherwise in another one. */
async function start() {
  /**
   * An import allocates many short-lived objects: a larger young generation would take 50 MB more
   * and save 4 % of the time.
   */
  const flags = first === 'import' ? ['--max-semi-space-size=4'] : [];
  if (isNewEnough && flags.length === 0) {
    nodeModule.enableCompileCache(compileCache());
    await import('./main.ts');
    return;
  }
  const node = isNewEnough ? process.execPath : findPinnedNode();
  if (node === undefined) {
    console.error(nodeFault('start subreport'));
    process.exit(1);
  }
  await startProcess(node, flags);
}

/** The folder where Node.js keeps compiled code, which halves the CPU time of a short command. */
function compileCache() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'subreport');
}

/** Path of the pinned Node.js, or undefined if there is none for this platform. */
function findPinnedNode() {
  const names = [
    `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`,
    `node-bin-${process.platform}-${process.arch}`,
  ];
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  for (const name of names) {
    try {
      const path = join(dirname(require.resolve(`${name}/package.json`)), file);
      if (existsSync(path)) return path;
    } catch {
      // not installed: try the next name
    }
  }
  return undefined;
}

async function startProcess(node, flags) {
  const { spawn } = await import('node:child_process');
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(node, [...flags, main, ...process.argv.slice(2)], {
    env: { NODE_COMPILE_CACHE: compileCache(), ...process.env },
    // by the channel the command notices when this process is killed
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // as shells do: 130 after SIGINT
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
}
