import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { StagedPackage } from './stage-packages.ts';

/**
 * What publint and arethetypeswrong find in a tarball. `require` of an ESM-only package is no
 * fault: Node.js supports it since 20.19 and 22.12.
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
 * Imports that a package neither contains nor lists in its manifest, as error messages. Only a
 * package with dependencies may import modules of Node.js; the others run in browsers, too.
 */
export function findUnlistedImports({ folder, manifest }: StagedPackage): readonly string[] {
  const dependencies = Object.keys(manifest.dependencies ?? {});
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

/** The packages that a module or a declaration imports. */
export const foreignNames = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:from|import) ?\(?(['"])(?<name>[\w@][\w@:/.-]*)\1/g)].map(({ groups }) => groups?.name ?? '');
