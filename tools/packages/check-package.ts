import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { StagedPackage } from './stage-packages.ts';

/**
 * Problems that publint and arethetypeswrong find in a tarball. `require` of an ESM-only package is
 * not one: Node.js 20.19, 22.12 and later support it.
 */
export async function findPackageFaults(tarball: string): Promise<readonly string[]> {
  const data = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true });
  const types = await checkPackage(createPackageFromTarballData(data));
  const problems = types.types === false ? [{ kind: 'NoTypes' }] : types.problems;
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`),
    ...problems
      .filter(({ kind }) => kind !== 'CJSResolvesToESM')
      .map((problem) => `arethetypeswrong: ${JSON.stringify(problem)}`),
  ];
}

/**
 * An error message for each import that a package neither contains nor lists in its manifest. A
 * package without dependencies also runs in browsers, so it must not import modules of Node.js.
 */
export function findUnlistedImports({ folder, manifest }: StagedPackage): readonly string[] {
  const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const allowed = dependencies.length === 0 ? [] : ['node:', ...dependencies];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /^lib.*\.(?:js|mjs|d\.ts)$/.test(file))
    .flatMap((file) =>
      foreignNames(readFileSync(join(folder, file), 'utf8'))
        .filter((name) => !allowed.some((each) => name.startsWith(each)))
        .map((name) => `${file} must only import what its package contains or lists: it imports '${name}'`),
    );
}

/**
 * The packages that a module or a declaration imports. Statements begin a line in compiled files,
 * other than those of code samples in strings.
 */
export const foreignNames = (text: string): readonly string[] =>
  [
    ...text.matchAll(/(?:^import|^(?:import|export)\b[^'"`;]*\bfrom|\bimport ?\() ?(['"])(?<name>[\w@][\w@:/.-]*)\1/gm),
  ].map(({ groups }) => groups?.name ?? '');
