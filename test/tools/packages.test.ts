import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findUnlistedImports, foreignNames } from '../../tools/packages/check-package.ts';
import { copyReachable } from '../../tools/packages/copy-reachable.ts';
import { linkCompiledFiles, withCompiledPaths } from '../../tools/packages/link-compiled-files.ts';
import { lockVersions } from '../../tools/packages/lock-versions.ts';
import { clientManifest, programManifest, serverManifest } from '../../tools/packages/manifest.ts';
import { manifests } from '../../tools/packages/stage-packages.ts';

test('every exact version of a dependency is in one package.json', () => {
  const all = Object.values(manifests).flatMap(({ dependencies = {} }) => Object.entries<string>(dependencies));
  expect(all.length).toBeGreaterThan(15);
  expect(all).toHaveLength(new Map(all).size);
  expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test.each([
  serverManifest(manifests),
  clientManifest(manifests),
  programManifest(manifests, 'cli'),
  programManifest(manifests, 'mcp'),
])('$name is public, with provenance, under the version of the repository, and runs no scripts', (manifest) => {
  const { version } = manifests.root;
  expect(manifest).toMatchObject({ version, publishConfig: { access: 'public', provenance: true } });
  for (const name of ['private', 'scripts', 'devDependencies', 'optionalDependencies'])
    expect(manifest).not.toHaveProperty(name);
});

test('a published package names each version that it needs, but of a package with two', () => {
  const locked = {
    'node_modules/a': { version: '1.0.0', dependencies: { '@b/b': '^1.0.0', c: '^2.0.0' } },
    'node_modules/@b/b': { version: '1.2.0', dependencies: { c: '^1.0.0', d: '^1.0.0' } },
    'node_modules/@b/b/node_modules/c': { version: '1.0.0' },
    'node_modules/c': { version: '2.0.0', optionalDependencies: { d: '^1.0.0' } },
    'node_modules/d': { version: '1.5.0' },
    'node_modules/other': { version: '1.0.0' },
  };
  expect(lockVersions({ a: '1.0.0' }, locked)).toEqual({ a: '1.0.0', '@b/b': '1.2.0', d: '1.5.0' });
});

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

  test('has the files that its programs lead to: modules, threads and folders', () => {
    const files = {
      'cli/main.js': "import '../terminal/a.js';\nnew Worker(new URL('./thread.js', import.meta.url));",
      'cli/thread.js': 'new URL(`./migrations/$…/`, import.meta.url);',
      'cli/migrations/one/0001.sql': '',
      'terminal/a.js': "await import('./b.js'); new URL('../../package.json', import.meta.url);",
      'terminal/b.js': "import './';",
      'terminal/other.js': '',
      'mcp/main.js': '',
    };
    for (const [file, text] of Object.entries(files)) write(`compiled/${file}`, text);
    copyReachable(join(folder, 'compiled'), join(folder, 'lib'), ['cli/main.js']);
    const copied = readdirSync(join(folder, 'lib'), { recursive: true, encoding: 'utf8', withFileTypes: true });
    expect(
      copied
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['0001.sql', 'a.js', 'b.js', 'main.js', 'thread.js']);
  });

  test('is refused if it imports a package that its manifest does not list', () => {
    write('lib/a.js', "import 'node:fs';\nimport { fastify } from 'fastify';\nimport { a } from './b.js';");
    const faultsWith = (dependencies?: Record<string, string>) =>
      findUnlistedImports({
        folder,
        manifest: { name: 'a', exports: {}, ...(dependencies !== undefined && { dependencies }) },
      });
    expect(faultsWith({ fastify: '5.0.0' })).toEqual([]);
    expect(faultsWith({ pg: '8.0.0' })).toHaveLength(1);
    expect(faultsWith()).toHaveLength(2);
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
