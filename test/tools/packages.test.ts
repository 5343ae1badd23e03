import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findUnlistedImports, foreignNames } from '../../tools/packages/check-package.ts';
import { copyReachable } from '../../tools/packages/copy-reachable.ts';
import { linkCompiledFiles, withCompiledPaths } from '../../tools/packages/link-compiled-files.ts';
import { clientManifest, programManifest, serverManifest } from '../../tools/packages/manifest.ts';
import { manifests } from '../../tools/packages/stage-packages.ts';

const { root, terminal, cli, mcp } = manifests;

test('the published service has the dependencies of its parts, no Node.js, and no scripts', () => {
  const { dependencies = {}, bin, ...others } = serverManifest(manifests);
  expect(dependencies).toEqual({
    ...root.dependencies,
    ...terminal.dependencies,
    ...cli.dependencies,
  });
  expect(bin).toEqual({ subreport: 'lib/service/cli/subreport.mjs' });
  expect(others.engines).toEqual({ node: '>=24' });
  for (const name of ['private', 'scripts', 'devDependencies', 'optionalDependencies'])
    expect(others).not.toHaveProperty(name);
});

test('the published client has no dependency, and names its folder of the repository', () => {
  const manifest = clientManifest(manifests);
  for (const name of ['private', 'scripts', 'dependencies', 'devDependencies', 'optionalDependencies', 'bin'])
    expect(manifest).not.toHaveProperty(name);
  expect(manifest.repository).toEqual({ ...root.repository, directory: 'packages/client' });
});

test.each([
  ['cli', cli, { subreport: 'lib/cli/subreport.mjs' }],
  ['mcp', mcp, { 'subreport-mcp': 'lib/mcp/subreport-mcp.mjs' }],
] as const)('the published %s has its dependencies and those of the terminal, and one program', (folder, part, bin) => {
  const manifest = programManifest(manifests, folder);
  expect(manifest).toMatchObject({ bin, engines: { node: '>=22' }, name: `@subreport/${folder}` });
  expect(manifest.dependencies).toEqual({ ...terminal.dependencies, ...part.dependencies });
  for (const name of ['private', 'scripts', 'devDependencies', 'optionalDependencies'])
    expect(manifest).not.toHaveProperty(name);
});

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
])('$name is published with provenance, under the version of the repository', (manifest) => {
  expect(manifest).toMatchObject({ version: root.version, publishConfig: { access: 'public', provenance: true } });
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
