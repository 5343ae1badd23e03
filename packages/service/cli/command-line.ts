import { Command, CommanderError } from 'commander';
import { InterruptedError, TemporaryError, UsageError } from '../../terminal/error.ts';
import type { Output } from '../../terminal/output.ts';
import { packageVersion } from '../../terminal/package-version.ts';
import { OperatorError } from '../operator/error.ts';
import { describeFailure } from './log/describe-failure.ts';

type AddCommand = (program: Command, output: Output) => void;

type Commands = Readonly<Record<string, () => Promise<AddCommand>>>;

/** The commands of people who read reports, of any service. */
const readerCommands: Commands = {
  login: async () => (await import('../../cli/commands/login-command.ts')).addLoginCommand,
  logout: async () => (await import('../../cli/commands/login-command.ts')).addLogoutCommand,
  whoami: async () => (await import('../../cli/commands/token-command.ts')).addWhoamiCommand,
  profiles: async () => (await import('../../cli/commands/open-command.ts')).addProfilesCommand,
  open: async () => (await import('../../cli/commands/open-command.ts')).addOpenCommand,
  list: async () => (await import('../../cli/commands/list-command.ts')).addListCommand,
  show: async () => (await import('../../cli/commands/show-command.ts')).addShowCommand,
  export: async () => (await import('../../cli/commands/export-command.ts')).addExportCommand,
  summary: async () => (await import('../../cli/commands/summary-command.ts')).addSummaryCommand,
  findings: async () => (await import('../../cli/commands/findings-command.ts')).addFindingsCommand,
  changes: async () => (await import('../../cli/commands/changes-command.ts')).addChangesCommand,
  mcp: async () => (await import('../../cli/commands/mcp-command.ts')).addMcpCommand,
  sync: async () => (await import('../../cli/commands/sync-command.ts')).addSyncCommand,
  token: async () => (await import('../../cli/commands/token-command.ts')).addTokenCommand,
  conform: async () => (await import('../../cli/commands/conform-command.ts')).addConformCommand,
  completion: async () => (await import('../../terminal/completion-command.ts')).addCompletionCommand,
};

const operatorCommands: Commands = {
  serve: async () => (await import('./serving/serve-command.ts')).addServeCommand,
  migrate: async () => (await import('./store/migrate-command.ts')).addMigrateCommand,
  config: async () => (await import('./config-command.ts')).addConfigCommand,
  doctor: async () => (await import('./operator/doctor-command.ts')).addDoctorCommand,
  audit: async () => (await import('./operator/audit-command.ts')).addAuditCommand,
  backup: async () => (await import('./store/backup-command.ts')).addBackupCommand,
  restore: async () => (await import('./store/restore-command.ts')).addRestoreCommand,
  tenant: async () => (await import('./operator/tenant-command.ts')).addTenantCommand,
  client: async () => (await import('./operator/client-command.ts')).addClientCommand,
  keys: async () => (await import('./operator/keys-command.ts')).addKeysCommand,
  operator: async () => (await import('./operator/operator-command.ts')).addOperatorCommand,
  import: async () => (await import('./operator/import-command.ts')).addImportCommand,
  imports: async () => (await import('./operator/imports-command.ts')).addImportsCommand,
  mirror: async () => (await import('./operator/mirror-command.ts')).addMirrorCommand,
  generate: async () => (await import('./store/generate-command.ts')).addGenerateCommand,
  subscription: async () => (await import('./operator/subscription-command.ts')).addSubscriptionCommand,
};

/**
 * All commands by the heading of their group, in the order of the help. Each module is imported
 * only when its command runs: all of them together take twice the CPU time of `tenant list`.
 */
const groups: readonly (readonly [heading: string, commands: Commands])[] = [
  ['Read reports:', readerCommands],
  ['Run the service:', operatorCommands],
];
const commands: Commands = { ...readerCommands, ...operatorCommands };

export async function buildProgram(output: Output, names = Object.keys(commands)): Promise<Command> {
  const program = new Command('subreport')
    .description('Reads reports of subscriptions, and runs the service that provides them.')
    .version(packageVersion)
    .option(
      '--env-file <file>',
      'read environment variables from a file; variables that are already set take precedence',
    )
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      "\nSettings of the service are environment variables: 'subreport config' lists them.\nExit codes: 0 success, 1 failure, 2 invalid usage, 130 stopped by Ctrl-C.",
    );
  program.exitOverride().configureOutput({
    writeOut: (text) => output.stdout.write(text),
    writeErr: (text) => output.stderr.write(text),
  });
  for (const [heading, group] of groups) {
    program.commandsGroup(heading);
    for (const name of names) (await group[name]?.())?.(program, output);
  }
  program.commandsGroup(groups[0]?.[0] ?? '').helpCommand('help [command]');
  inheritSettings(program);
  return program;
}

/** The name of the command in a command line: its first word after `--env-file`. */
export function commandName([first, ...rest]: readonly string[]): string | undefined {
  if (first === envFile) return commandName(rest.slice(1));
  return first?.startsWith(`${envFile}=`) === true ? commandName(rest) : first;
}

const envFile = '--env-file';

/** The commands that a command line needs: the one it names or, for help and errors, all. */
function namesFor(argv: readonly string[]): string[] | undefined {
  const name = commandName(argv) ?? '';
  if (name === '--version' || name === '-V') return [];
  return Object.hasOwn(commands, name) && name !== 'completion' ? [name] : undefined;
}

/**
 * Copies the exit and output settings of a command to its subcommands, which do not inherit
 * settings made after they were added.
 */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    // not in the group of the program's
    if (child.commands.length > 0) child.helpCommand('help [command]');
    inheritSettings(child);
  }
}

/**
 * Runs one command line and returns the exit code. Prints the message of an error that the user can
 * fix, and the stack of any other.
 */
export async function runCommandLine(argv: readonly string[], output: Output): Promise<number> {
  const program = await buildProgram(output, namesFor(argv));
  program.hook('preAction', () => loadEnvironment(program.opts<{ envFile?: string }>().envFile));
  return runProgram(program, argv, output);
}

async function runProgram(program: Command, argv: readonly string[], output: Output): Promise<number> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof InterruptedError) return error.exitCode;
    output.stderr.write(`${describeFailure(error)}\n`);
    if (error instanceof TemporaryError) return 75;
    return error instanceof UsageError || (error instanceof OperatorError && error.code === 'INVALID') ? 2 : 1;
  }
}

/** Loads variables in the format of Node's `--env-file`. */
function loadEnvironment(file: string | undefined): void {
  if (file === undefined) return;
  try {
    process.loadEnvFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `Cannot use --env-file: it must be a file that this user can read: ${code ?? message}: current value is '${file}'`,
    );
  }
}
