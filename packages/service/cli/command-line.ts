import type { Command } from 'commander';
import { readerGroups } from '../../cli/command-line.ts';
import type { Output } from '../../terminal/output.ts';
import {
  buildCommandLine,
  type CommandLine,
  type Commands,
  exitCodes,
  failureOf,
  runCommandLine as runLine,
} from '../../terminal/program.ts';
import { OperatorError } from '../operator/error.ts';
import { isTemporary } from '../storage/error.ts';
import { describeFailure } from './log/describe-failure.ts';

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
  generate: async () => (await import('./store/generate-command.ts')).addGenerateCommand,
  subscription: async () => (await import('./operator/subscription-command.ts')).addSubscriptionCommand,
};

/** All commands together would take twice the CPU time of `tenant list`. */
const line: CommandLine = {
  description: 'Reads reports of subscriptions, and runs the service that provides them.',
  notes: `Settings of the service are environment variables: 'subreport config' lists them.\n${exitCodes}`,
  groups: [...readerGroups, ['Run the service:', operatorCommands]],
  failureOf(error) {
    const { exitCode } = failureOf(error);
    const isInvalid = error instanceof OperatorError && error.code === 'INVALID';
    return { message: describeFailure(error), exitCode: isInvalid ? 2 : isTemporary(error) ? 75 : exitCode };
  },
};

export const buildProgram = (output: Output): Promise<Command> => buildCommandLine(line, output);

/** Runs one command line of the package `subreport`, and returns the exit code. */
export const runCommandLine = (argv: readonly string[], output: Output): Promise<number> => runLine(line, argv, output);
