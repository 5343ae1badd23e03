import type { Output } from '../terminal/output.ts';
import { type CommandGroups, type CommandLine, exitCodes, failureOf, runCommandLine } from '../terminal/program.ts';

/** The commands of people who read reports, of any service. */
export const readerGroups: CommandGroups = [
  [
    'Read reports:',
    {
      login: async () => (await import('./commands/login-command.ts')).addLoginCommand,
      logout: async () => (await import('./commands/login-command.ts')).addLogoutCommand,
      whoami: async () => (await import('./commands/token-command.ts')).addWhoamiCommand,
      profiles: async () => (await import('./commands/profiles-command.ts')).addProfilesCommand,
      list: async () => (await import('./commands/list-command.ts')).addListCommand,
      show: async () => (await import('./commands/show-command.ts')).addShowCommand,
      export: async () => (await import('./commands/export-command.ts')).addExportCommand,
      summary: async () => (await import('./commands/summary-command.ts')).addSummaryCommand,
      findings: async () => (await import('./commands/findings-command.ts')).addFindingsCommand,
      changes: async () => (await import('./commands/changes-command.ts')).addChangesCommand,
      sync: async () => (await import('./commands/sync-command.ts')).addSyncCommand,
      token: async () => (await import('./commands/token-command.ts')).addTokenCommand,
    },
  ],
];

/** The command line of `@subreport/cli`. */
const readerLine: CommandLine = {
  description: 'Reads reports of subscriptions.',
  notes: exitCodes,
  groups: readerGroups,
  failureOf,
};

export const runReaderProgram = (argv: readonly string[], output: Output): Promise<number> =>
  runCommandLine(readerLine, argv, output);
