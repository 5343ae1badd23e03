#!/usr/bin/env node
// Starts the command line with a Node.js version that can run it, and the flags that a command
// needs: the current Node.js if it is recent enough, otherwise the one from the dependencies of the
// package. Plain JavaScript, because it must run on Node.js 20 and later.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const oldestNode = 26;
/**
 * An import allocates many short-lived objects: a larger young generation would take 50 MB more and
 * save 4 % of the time (bench/results/import.md).
 */
const flags = process.argv[2] === 'import' ? ['--max-semi-space-size=4'] : [];

/** Path of the pinned Node.js, or undefined if there is none for this platform. */
function findPinnedNode() {
  const require = createRequire(import.meta.url);
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

const isNewEnough = Number(process.versions.node.split('.')[0]) >= oldestNode;
if (isNewEnough && flags.length === 0) {
  await import('./main.ts');
} else {
  const node = isNewEnough ? process.execPath : findPinnedNode();
  if (node === undefined) {
    console.error(
      `Cannot start subreport: it must run on Node ${oldestNode} or newer: current value is ${process.versions.node}; run npm ci, which brings one for Linux, macOS on ARM and Windows`,
    );
    process.exit(1);
  }
  const child = spawn(node, [...flags, main, ...process.argv.slice(2)], {
    // by the channel the command notices when this process is killed
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1));
}
