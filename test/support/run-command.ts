import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compileCache } from './compile-cache.ts';
import { eventually } from './eventually.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** What a command left. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is running. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  /** Resolves when it has ended. */
  readonly ended: Promise<CommandResult>;
}

/** How to run a command. */
export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Text for its standard input. */
  readonly input?: string;
  readonly cwd?: string;
  /** User id to run under. */
  readonly uid?: number;
  /** Program and first arguments, where it is not this Node with the sources. */
  readonly program?: readonly [string, ...string[]];
}

/**
 * The environment without settings of ours; services of several tests run at once, so none opens
 * the operator's listener unless told.
 */
export const commandEnvironment = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NO_COLOR: '1',
  MANAGEMENT_PORT: '0',
  ...compileCache,
};

/** Starts `subreport` with arguments in a process of its own. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const [program, ...first] = options.program ?? [process.execPath, main];
  const child = spawn(program, [...first, ...args], {
    env: { ...commandEnvironment, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.uid !== undefined && { uid: options.uid }),
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => {
      texts[name] += chunk;
    });
  child.stdin.on('error', () => undefined); // it ended without reading all of its input
  child.stdin.end(options.input ?? '');
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }));
  return { child, stdout: () => texts.stdout, ended };
}

/** Runs `subreport` with arguments to its end. */
export const runCommand = (args: readonly string[], options?: CommandOptions): Promise<CommandResult> =>
  startCommand(args, options).ended;

/**
 * Waits until a running command has written a text to its standard output; fails with what it said
 * when it ends before.
 */
export async function untilWritten(command: RunningCommand, text: string): Promise<void> {
  let result: CommandResult | undefined;
  void command.ended.then((ended) => {
    result = ended;
  });
  await eventually(() => {
    if (!command.stdout().includes(text) && result === undefined) throw new Error(`'${text}' is not there yet`);
  });
  if (!command.stdout().includes(text)) throw new Error(`the command ended: ${JSON.stringify(result)}`);
}
