import { Readable } from 'node:stream';
import { runCommandLine } from '../../packages/service/cli/command-line.ts';
import { type CommandResult, commandEnvironment } from './run-command.ts';

/** Whether a run has replaced the environment: it must be restored before the next one. */
let isRunning = false;

/**
 * Runs `subreport` with arguments in this process: some 10 ms, while a child process takes 150 ms
 * of CPU time to start, or 350 ms for an import. For commands that need no signals, one at a time.
 */
export async function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input: string | Buffer = '',
  { isTTY = false } = {},
): Promise<CommandResult> {
  if (isRunning) throw new Error('Cannot run two commands at once here: await the first one, or use runCommand');
  isRunning = true;
  const before = { ...process.env };
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
  const texts = { stdout: '', stderr: '' };
  const writerOf = (name: keyof typeof texts) => ({
    isTTY,
    write(part: string | Uint8Array) {
      texts[name] += typeof part === 'string' ? part : Buffer.from(part).toString();
    },
  });
  replaceEnvironment({ ...commandEnvironment, ...environment });
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input as string)]), configurable: true });
  try {
    const code = await runCommandLine(args, { stdout: writerOf('stdout'), stderr: writerOf('stderr') });
    return { code: code === 0 ? Number(process.exitCode ?? 0) : code, ...texts };
  } finally {
    isRunning = false;
    process.exitCode = undefined;
    Object.defineProperty(process, 'stdin', stdin);
    replaceEnvironment(before);
  }
}

function replaceEnvironment(next: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in next)) delete process.env[name];
  Object.assign(process.env, next);
}
