import { useProxies } from '../outgoing/proxy.ts';
import { allVariables } from './environment.ts';
import { type Output, standardOutput, watchStandardOutput } from './output.ts';
import { printableText } from './printable.ts';

/** Runs a program as the main module of this process, with its arguments and standard output. */
export async function runMain(run: (argv: readonly string[], output: Output) => Promise<number>): Promise<void> {
  const argv = process.argv.slice(2);
  // exports, copies, backups and states contain records or tokens, also those that SQLite creates
  process.umask(0o077);
  watchStandardOutput(argv[0]);
  stopWithLauncher();
  const fault = await useProxies(allVariables());
  if (fault !== undefined) {
    standardError.write(`${fault}\n`);
    process.exitCode = 2;
    return;
  }
  const code = await run(argv, { stdout: standardOutput, stderr: standardError });
  if (code !== 0) process.exitCode = code;
}

/** Where all messages leave: of people, of servers and of the programs that these started. */
const standardError = {
  get isTTY(): boolean {
    return process.stderr.isTTY === true;
  },
  write: (text: string): boolean => process.stderr.write(printableText(text)),
};

/** Stops this process like SIGTERM when the launcher (`launch.mjs`) closes its IPC channel. */
function stopWithLauncher(): void {
  process.channel?.unref(); // an open channel must not keep the process running
  if (process.channel !== undefined) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}
