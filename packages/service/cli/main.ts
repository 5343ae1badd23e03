import { standardOutput, watchStandardOutput } from '../../terminal/output.ts';
import { commandName, runCommandLine } from './command-line.ts';

// exports, copies, backups and states contain records or tokens, also those that SQLite creates
process.umask(0o077);
watchStandardOutput(commandName(process.argv.slice(2)));
stopWithLauncher();
const code = await runCommandLine(process.argv.slice(2), { stdout: standardOutput, stderr: process.stderr });
if (code !== 0) process.exitCode = code;

/** Stops this process like SIGTERM when the launcher (`subreport.mjs`) closes its IPC channel. */
function stopWithLauncher(): void {
  process.channel?.unref(); // an open channel must not keep the process running
  if (process.channel !== undefined) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}
