import type { Command } from 'commander';
import { addProfileOption, connect, type ProfileOption } from '../terminal/connection.ts';
import type { Output } from '../terminal/output.ts';
import { packageVersion } from '../terminal/package-version.ts';
import { exitCodes, failureOf, newProgram, runProgram } from '../terminal/program.ts';
import { runReader } from '../terminal/reader-action.ts';

/** The program of `@subreport/mcp`. */
function buildMcpProgram(output: Output): Command {
  return addProfileOption(newProgram('subreport-mcp', output))
    .description('Answers questions of an AI assistant over stdio (MCP).')
    .addHelpText(
      'after',
      `
The assistant can read subscriptions, counts, history, changes and findings; it can change nothing,
and never sees an email address. Its configuration starts this program. Without a profile, the
program reads SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET.

${exitCodes}

Example:
  npx @subreport/mcp --profile acme`,
    )
    .action((options: ProfileOption) =>
      runReader(async (signal) => {
        const { serveMcp } = await import('./serve-mcp.ts');
        const open = (hooks: object) => connect(options, hooks).client;
        await serveMcp({ open, version: packageVersion, input: process.stdin, output: process.stdout, signal });
      }),
    );
}

/** Runs the program until its input ends, and returns the exit code. */
export const runMcpProgram = (argv: readonly string[], output: Output): Promise<number> =>
  runProgram(buildMcpProgram(output), argv, output, failureOf);
