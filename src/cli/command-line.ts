import { Command, CommanderError } from 'commander';
import { CommandAudit } from './command-audit.ts';
import { describeFailure } from './describe-failure.ts';
import { UsageError } from './error.ts';
import type { Output } from './output.ts';
import { packageVersion } from './package-version.ts';

type AddCommand = (program: Command, output: Output) => void;

/**
 * The commands in the order of the help. Each module is imported only when its command runs: all of
 * them together take twice the CPU time of `tenant list`.
 */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  serve: async () => (await import('./serve-command.ts')).addServeCommand,
  migrate: async () => (await import('./migrate-command.ts')).addMigrateCommand,
  config: async () => (await import('./config-command.ts')).addConfigCommand,
  doctor: async () => (await import('./doctor-command.ts')).addDoctorCommand,
  backup: async () => (await import('./backup-command.ts')).addBackupCommand,
  restore: async () => (await import('./restore-command.ts')).addRestoreCommand,
  tenant: async () => (await import('./tenant-command.ts')).addTenantCommand,
  client: async () => (await import('./client-command.ts')).addClientCommand,
  keys: async () => (await import('./keys-command.ts')).addKeysCommand,
  import: async () => (await import('./import-command.ts')).addImportCommand,
  generate: async () => (await import('./generate-command.ts')).addGenerateCommand,
  subscription: async () => (await import('./subscription-command.ts')).addSubscriptionCommand,
};

/** Builds the command line with all its commands, or with those of some names. */
export async function buildProgram(output: Output, names = Object.keys(commands)): Promise<Command> {
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
  for (const name of names) (await commands[name]?.())?.(program, output);
  inheritSettings(program);
  return program;
}

/** The commands that a command line needs: the one it names or, for help and errors, all. */
function namesFor([first = '']: readonly string[]): string[] | undefined {
  if (first === '--version' || first === '-V') return [];
  return Object.hasOwn(commands, first) ? [first] : undefined;
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
  const noted = { stdout, stderr, onResult: (result: unknown) => audit.noteResult(result) };
  const program = await buildProgram(noted, namesFor(argv));
  program.hook('preAction', (_program, command) => audit.begin(command));
  const code = await runProgram(program, argv, output);
  await audit.end(code === 0 ? Number(process.exitCode ?? 0) : code);
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
