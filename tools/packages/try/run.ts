import { execFile } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';

/** `PATH` without the folders that npm adds for the scripts of this repository. */
export const systemPath = (env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules') && !folder.includes('node-gyp-bin'))
  .join(delimiter);

/** The environment of a user whose `node` is this one, without the variables that npm sets here. */
export const userEnvironment = (node: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('npm_'))),
  PATH: `${dirname(node)}${delimiter}${systemPath}`,
});

const maxBuffer = 16_777_216;

interface RunOptions {
  readonly cwd: string;
  /** The Node.js that the command finds first on its `PATH`. */
  readonly node?: string;
  /** More variables. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Runs a command and returns what it prints. Throws with the output of a command that fails. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, node = process.execPath, environment = {} }: RunOptions,
): Promise<string> {
  try {
    return (
      await promisify(execFile)(command, [...args], {
        cwd,
        env: { ...userEnvironment(node), ...environment },
        maxBuffer,
      })
    ).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${[command, ...args].join(' ')}: ${stdout}${stderr}` || String(error));
  }
}
