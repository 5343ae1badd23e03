import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { checkersFolder, hasCheckers } from '../has-checkers.ts';
import type { StagedPackage } from './stage-packages.ts';

/** Problems that publint, and if it is installed arethetypeswrong, find in a tarball. */
export async function findPackageFaults(tarball: string): Promise<readonly string[]> {
  const data = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true });
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`),
    ...('.' in pkg.exports && hasCheckers(`the types of ${basename(tarball)} are not checked`)
      ? await typeFaults(tarball)
      : []),
  ];
}

async function typeFaults(tarball: string): Promise<readonly string[]> {
  const program = join(checkersFolder, 'find-type-faults.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, tarball]);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => `arethetypeswrong: ${line}`);
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
