import type { Command } from 'commander';
import type { PlaceOptions } from '../../sync/open-destination.ts';
import type { Source } from '../../sync/run-sync.ts';
import { CommandError, TemporaryError, UsageError } from '../error.ts';
import { addProfileOption, connect, type ProfileOption } from './connection.ts';

/** The options of every command of a copy. */
export interface CopyOptions extends ProfileOption, PlaceOptions {
  /** Checked by `requireDestination`. */
  readonly to: string;
  readonly table: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Throws unless a command has a destination, or a file and no options of a destination. */
export function requireDestination(command: Command): void {
  const [file] = command.args;
  if (file === undefined && command.getOptionValue('to') === undefined)
    throw new UsageError('Cannot run the command: --to <destination> must be given, or a file such as sync.yaml');
  const others = command.options.filter((option) => {
    const name = option.attributeName();
    return !['once', 'json', 'quiet'].includes(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (file !== undefined && others.length > 0)
    throw new UsageError(
      `Cannot use ${others.map(({ long }) => long).join(', ')} with '${file}': each entry of the file must have its own, such as 'to: sqlite:copy.db'`,
    );
}

/** Adds the options of every command of a copy. */
export const addCopyOptions = (command: Command, destinations: string): Command =>
  addProfileOption(command)
    .option('--to <destination>', `the copy: ${destinations}`)
    .option('--table <name>', 'the table of a database', 'subscriptions')
    .option(
      '--secret-file <file>',
      'file of the secret: credentials of S3; private key or password of SFTP; signing secret of a webhook, in a second line the former one',
    )
    .option('--host-key <fingerprint>', 'the host key of an SFTP server, such as SHA256:…')
    .option('--known-hosts <file>', 'the host keys of SFTP servers (default: ~/.ssh/known_hosts)')
    .option('--json', 'print JSON')
    .option('-q, --quiet', 'suppress messages other than errors');

/** The service and the client whose report a command reads. */
export function sourceOf(options: CopyOptions): Source {
  const { client, profile } = connect(options);
  return { client, service: profile.base_url, clientId: profile.client_id };
}

/** Exit code 2 for what the user must change, 1 for any other failure of a sync. */
export async function withSyncErrors(work: () => Promise<void>): Promise<void> {
  const { SyncError } = await import('../../sync/error.ts');
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    const isUsage = ['DESTINATION_INVALID', 'DESTINATION_CHANGED', 'OTHER_SOURCE', 'DESTINATION_GONE'].includes(
      error.code,
    );
    const other = error.code === 'DELIVERY_PENDING' ? TemporaryError : CommandError;
    throw new (isUsage ? UsageError : other)(error.message, { cause: error });
  }
}
