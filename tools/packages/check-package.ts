import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

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

/** Imports of other packages in the modules and declarations of a folder, as error messages. */
export function findForeignImports(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(?:js|d\.ts)$/.test(file))
    .flatMap((file) =>
      foreignNames(readFileSync(join(folder, file), 'utf8')).map(
        (name) => `${file} must have no dependency: it imports '${name}'`,
      ),
    );
}

/** The packages that a module or a declaration imports. */
export const foreignNames = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:from|import) ?\(?(['"])(?<name>[\w@][\w@:/.-]*)\1/g)].map(({ groups }) => groups?.name ?? '');
