import type { Command } from 'commander';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import type { Output } from '../../terminal/output.ts';
import { packageVersion } from '../../terminal/package-version.ts';
import { runReader } from '../../terminal/reader-action.ts';

export function addMcpCommand(program: Command, _output: Output): void {
  const command = program.command('mcp').description('answer questions of an AI assistant over stdio (MCP)');
  addProfileOption(command)
    .addHelpText(
      'after',
      `
The assistant can count, list, get and summarize subscriptions and list changes; it can change nothing, and never
sees an email address. It starts the command itself, from its configuration.

Example:
  subreport mcp --profile acme`,
    )
    .action((options: ProfileOption) =>
      runReader(async (signal) => {
        const { serveMcp } = await import('../../mcp/serve-mcp.ts');
        const { stdin: input, stdout: output } = process;
        const open = (hooks: object) => connect(options, hooks).client;
        await serveMcp({ open, version: packageVersion, input, output, signal });
      }),
    );
}
