import { type Command, Option } from 'commander';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import { UsageError } from '../../../terminal/error.ts';
import { formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import { addServerOption, withOperations } from './operator-api.ts';

interface RotateOptions extends ServerChoice {
  readonly purpose: 'access' | 'refresh';
  readonly now?: boolean;
  readonly compromised?: boolean;
  readonly json?: boolean;
}

export function addKeysCommand(program: Command, output: Output): void {
  const keys = program
    .command('keys')
    .description('list and rotate the keys that sign access tokens and protect refresh tokens');
  keys
    .command('list')
    .description('list the keys, newest first, with the state of each and the date of its automatic rotation')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExample:\n  subreport keys list --json')
    .action(async ({ json = false, ...choice }: ServerChoice & { json?: boolean }) => {
      const { data: shown } = await withOperations(choice, (call) => call('listKeys'));
      const rows = shown.map((key) => [
        key.purpose,
        key.kid,
        key.alg,
        key.state,
        key.activates_at,
        key.ends_at ?? '-',
        key.rotation_due_at ?? '-',
        key.encrypted ? 'yes' : 'no',
      ]);
      const header = ['PURPOSE', 'KID', 'ALG', 'STATE', 'IN USE FROM', 'ENDS', 'ROTATION DUE', 'ENCRYPTED'];
      writeResult(output, json, shown, formatTable(header, rows));
    });
  keys
    .command('rotate')
    .description('generate the next key; it is published now and used after six minutes, so that no request fails')
    .addOption(
      new Option('--purpose <purpose>', 'access: signs access tokens; refresh: protects refresh tokens')
        .choices(['access', 'refresh'])
        .default('access'),
    )
    .option('--now', 'use the new key immediately; existing tokens stay valid')
    .option(
      '--compromised',
      'use the new key immediately and delete all older keys; tokens made with them are rejected',
    )
    .option('--json', 'print the new key')
    .addHelpText('after', '\nExamples:\n  subreport keys rotate\n  subreport keys rotate --compromised')
    .action(async (options: RotateOptions) => {
      if (options.now === true && options.compromised === true)
        throw new UsageError('Cannot rotate: --now and --compromised must not be combined');
      const { purpose, json = false } = options;
      const mode = options.compromised === true ? 'compromised' : options.now === true ? 'now' : 'soon';
      const made = await withOperations(options, (call) => call('rotateKeys', { body: { purpose, mode } }));
      const wait = Math.ceil((Date.parse(made.activates_at) - Date.now()) / 1000);
      const start = wait > 0 ? `takes over in ${wait} seconds` : 'is in use';
      writeResult(output, json, made, `The new ${made.purpose} key ${made.kid} ${start}.`);
    });
  addServerOption(keys);
}
