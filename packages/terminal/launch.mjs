// Starts a program with a Node.js that can run it: the current one, or for the sources the one in
// node_modules. Plain JavaScript, because it must run on Node.js 20 and later.
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNode, nodeFault, nodeOfSources } from './required-node.mjs';

const require = nodeModule.createRequire(import.meta.url);
const manifest = require('../../package.json');

/** Starts the program `command`, whose main module is `main`, with flags of Node.js. */
export async function launch({ command, main, flags = [] }) {
  const [first, ...others] = process.argv.slice(2);
  if (others.length === 0 && (first === '--version' || first === '-V')) {
    // here, because the command line takes ten times as long, and needs a second process on Node 20
    process.stdout.write(`${manifest.version}\n`);
    return;
  }
  if (isStartedByNpm(command)) await import('./end-with-parent.mjs');
  const isSource = main.pathname.endsWith('.ts');
  const oldest = isSource ? nodeOfSources : manifest.engines.node.slice('>='.length);
  if (isNode(oldest) && flags.length === 0) {
    nodeModule.enableCompileCache(compileCache());
    await import(main.href);
    return;
  }
  const node = isNode(oldest) ? process.execPath : isSource ? findPinnedNode() : undefined;
  if (node === undefined) {
    console.error(nodeFault(`start ${command}`, oldest));
    process.exit(1);
  }
  await startProcess(node, [...flags, fileURLToPath(main)]);
}

/**
 * Whether npx, or a script of npm whose last command is this one, started it and waits for it.
 * Without npm, a process may outlive the shell that started it, and so may one that npm's script
 * started in the background, or through another program.
 */
function isStartedByNpm(command) {
  const last = new RegExp(`(?:^|&&\\s*)(?:\\w+=\\S+\\s+)*(["']?)(?:[^\\s"'&]*/)?${command}\\1(?:\\s[^&]*)?$`);
  return last.test(process.env.npm_lifecycle_script ?? '');
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

async function startProcess(node, args) {
  const { spawn } = await import('node:child_process');
  const child = spawn(node, [...args, ...process.argv.slice(2)], {
    env: { NODE_COMPILE_CACHE: compileCache(), ...process.env },
    // by the channel the command notices when this process is killed
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // as shells do: 130 after SIGINT
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
}
