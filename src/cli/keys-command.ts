import { type Command, Option } from 'commander';
import { openKeyRing } from '../auth/key-ring.ts';
import type { KeyRingOptions } from '../auth/key-ring-options.ts';
import { listKeys, type RotationMode } from '../auth/rotate-keys.ts';
import { describeKey, rotateKeys } from '../operator/keys.ts';
import type { OperatorContext } from '../operator/perform.ts';
import { withOperator } from './command-context.ts';
import { type Config, readConfig } from './config.ts';
import { UsageError } from './error.ts';
import { keyRingOptions } from './key-ring-options.ts';
import { formatTable, type Output, writeResult } from './output.ts';
import { nowSeconds } from './store-session.ts';

interface RotateOptions {
  readonly purpose: 'access' | 'refresh';
  readonly now?: boolean;
  readonly compromised?: boolean;
  readonly json?: boolean;
}

/** `subreport keys list|rotate`. */
export function addKeysCommand(program: Command, output: Output): void {
  const keys = program
    .command('keys')
    .description('list and rotate the keys that sign access tokens and protect refresh tokens');
  keys
    .command('list')
    .description('list the keys, newest first, with the state of each and the date of its automatic rotation')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExample:\n  subreport keys list --json')
    .action(async ({ json = false }: { json?: boolean }) => {
      const shown = await withKeys(readConfig(), async (_context, ring) => (await listKeys(ring)).map(describeKey));
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
      const mode: RotationMode = options.compromised === true ? 'compromised' : options.now === true ? 'now' : 'soon';
      const made = await withKeys(readConfig(), (context, ring) => rotateKeys(context, ring, options.purpose, mode));
      const wait = made.activatesAt - nowSeconds();
      const start = wait > 0 ? `takes over in ${wait} seconds` : 'is in use';
      writeResult(
        output,
        options.json ?? false,
        describeKey(made),
        `The new ${made.purpose} key ${made.kid} ${start}.`,
      );
    });
}

/** Runs work after ensuring that the keys of the store exist and can be read. */
function withKeys<T>(config: Config, work: (context: OperatorContext, ring: KeyRingOptions) => Promise<T>): Promise<T> {
  return withOperator(config, async (context) => {
    const ring = keyRingOptions(config, context.store);
    await openKeyRing(ring);
    return work(context, ring);
  });
}
