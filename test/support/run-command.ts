import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../../tools/end-at-exit.ts';
import { compileCache } from './compile-cache.ts';
import { eventually, startMsMax } from './eventually.ts';

/** The command line: bundled in a run of tests, otherwise its sources. */
export const mainProgram =
  process.env.TEST_PROGRAM ?? fileURLToPath(new URL('../../packages/service/cli/main.ts', import.meta.url));

/** The program of `@subreport/mcp`: beside the bundled command line, otherwise its sources. */
export const mcpProgram =
  process.env.TEST_PROGRAM === undefined
    ? fileURLToPath(new URL('../../packages/mcp/main.ts', import.meta.url))
    : join(dirname(process.env.TEST_PROGRAM), 'mcp.js');

/** The result of a command. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is running. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  /** Resolves when it has exited. */
  readonly ended: Promise<CommandResult>;
}

/** How to run a command. */
export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Its standard input. */
  readonly input?: string;
  readonly cwd?: string;
  /** Program and first arguments, if not this Node and the command line. */
  readonly program?: readonly [string, ...string[]];
}

/**
 * The environment without settings of subreport. Services of several tests run concurrently, so
 * none opens the management listener by default.
 */
export const commandEnvironment = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NO_COLOR: '1',
  MANAGEMENT_PORT: '0',
  ...compileCache,
};

/** Starts `subreport` with arguments in a child process. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const [program, ...first] = options.program ?? [process.execPath, mainProgram];
  const child = spawn(program, [...first, ...args], {
    env: { ...commandEnvironment, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  endAtExit(child);
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => {
      texts[name] += chunk;
    });
  child.stdin.on('error', () => undefined); // it exited without reading all of its input
  child.stdin.end(options.input ?? '');
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }));
  return { child, stdout: () => texts.stdout, ended };
}

/** Runs `subreport` with arguments in a child process until it exits. */
export const runCommand = (args: readonly string[], options?: CommandOptions): Promise<CommandResult> =>
  startCommand(args, options).ended;

/** Waits until a running command has printed a string; throws its output if it exits first. */
export async function untilWritten(command: RunningCommand, text: string): Promise<void> {
  let result: CommandResult | undefined;
  void command.ended.then((ended) => {
    result = ended;
  });
  await eventually(() => {
    if (!command.stdout().includes(text) && result === undefined) throw new Error(`'${text}' is not there yet`);
  }, startMsMax);
  if (!command.stdout().includes(text)) throw new Error(`the command ended: ${JSON.stringify(result)}`);
}
