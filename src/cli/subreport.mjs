#!/usr/bin/env node
// Starts the command line under a Node that can run it, with the flags that a command needs: this
// one when it is new enough, or the one that came with the package's dependencies. Plain
// JavaScript, because the Node that starts it may be any from 20 on.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const oldestNode = 26;
/**
 * An import makes much and keeps nothing: a larger young generation would take 50 MB more and 4 %
 * less time (bench/results/import.md).
 */
const flags = process.argv[2] === 'import' ? ['--max-semi-space-size=4'] : [];

/** Path of the pinned Node, or undefined where none is made for this platform. */
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
      // not installed: the next name, or none
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
