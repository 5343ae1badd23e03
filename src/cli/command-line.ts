import { Command, CommanderError } from 'commander';
import { addBackupCommand } from './backup-command.ts';
import { addClientCommand } from './client-command.ts';
import { CommandAudit } from './command-audit.ts';
import { addConfigCommand } from './config-command.ts';
import { describeFailure } from './describe-failure.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { UsageError } from './error.ts';
import { addGenerateCommand } from './generate-command.ts';
import { addImportCommand } from './import-command.ts';
import { addKeysCommand } from './keys-command.ts';
import { addMigrateCommand } from './migrate-command.ts';
import type { Output } from './output.ts';
import { packageVersion } from './package-version.ts';
import { addRestoreCommand } from './restore-command.ts';
import { addServeCommand } from './serve-command.ts';
import { addSubscriptionCommand } from './subscription-command.ts';
import { addTenantCommand } from './tenant-command.ts';

/** Builds the command line with all its commands. */
export function buildProgram(output: Output): Command {
  const program = new Command('subreport')
    .description('run the subscription reporting service, load subscriptions, manage tenants and clients')
    .version(packageVersion)
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      "\nSettings are environment variables: 'subreport config' lists them.\nExit codes: 0 success, 1 failure, 2 invalid usage.",
    );
  program.exitOverride().configureOutput({
    writeOut: (text) => output.stdout.write(text),
    writeErr: (text) => output.stderr.write(text),
  });
  const commands = [
    addServeCommand,
    addMigrateCommand,
    addConfigCommand,
    addDoctorCommand,
    addBackupCommand,
    addRestoreCommand,
    addTenantCommand,
    addClientCommand,
    addKeysCommand,
    addImportCommand,
    addGenerateCommand,
    addSubscriptionCommand,
  ];
  for (const add of commands) add(program, output);
  inheritSettings(program);
  return program;
}

/**
 * Copies the exit and output settings of a command to its subcommands, which do not inherit
 * settings made after they were added.
 */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}

/**
 * Runs one command line and returns the exit code. Prints the message of an error that the user can
 * fix, and the stack of any other.
 */
export async function runCommandLine(argv: readonly string[], output: Output): Promise<number> {
  const audit = new CommandAudit(output);
  const { stdout, stderr } = output;
  const program = buildProgram({ stdout, stderr, onResult: (result) => audit.noteResult(result) });
  program.hook('preAction', (_program, command) => audit.begin(command));
  const code = await runProgram(program, argv, output);
  audit.end(code === 0 ? Number(process.exitCode ?? 0) : code);
  return code;
}

async function runProgram(program: Command, argv: readonly string[], output: Output): Promise<number> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    output.stderr.write(`${describeFailure(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}
