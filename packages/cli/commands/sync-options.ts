import { type Command, Option } from 'commander';
import { didYouMean } from '../../contract/suggest.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { allVariables } from '../../terminal/environment.ts';
import { CommandError, TemporaryError, UsageError } from '../../terminal/error.ts';
import { integerFrom } from '../../terminal/integer-option.ts';
import type { Output } from '../../terminal/output.ts';
import { forUser } from '../../terminal/reader-action.ts';
import type { FileStore } from '../sync/file-store.ts';
import { type SnapshotFormat, snapshotFormats } from '../sync/manifest.ts';
import type { PlaceOptions } from '../sync/open-destination.ts';
import type { Source } from '../sync/run-sync.ts';

/** The options of every command of a copy. */
export interface CopyOptions extends ProfileOption, PlaceOptions {
  /** Checked by `requireDestination`. */
  readonly to: string;
  readonly table: string;
  readonly format: SnapshotFormat;
  readonly secretFile?: string;
  readonly state?: string;
  readonly expiring?: string;
  readonly expiringAll?: boolean;
  readonly retrySeconds: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Throws unless a command has a destination, and no words besides its options. */
export function requireDestination(command: Command): void {
  const [word] = command.args;
  if (word !== undefined) {
    const known = command.parent?.commands.filter((each) => each !== command).map((each) => each.name()) ?? [];
    throw new UsageError(
      `Cannot run 'sync ${word}': it must be ${known.join(', ')} or an option${didYouMean(word, known)}`,
    );
  }
  if (command.getOptionValue('to') === undefined)
    throw new UsageError('Cannot run the command: --to <destination> must be given, such as --to sqlite:copy.db');
}

/** Adds the options of every command of a copy, so that one line of options suits all of them. */
export const addCopyOptions = (command: Command, destinations: string): Command =>
  addProfileOption(command)
    .option('--to <destination>', `the copy: ${destinations}`)
    .option('--table <name>', 'the table of a database', 'subscriptions')
    .addOption(
      new Option('--format <format>', 'for files: the format; with .gz compressed')
        .choices(snapshotFormats)
        .default('csv'),
    )
    .option('--state <file>', 'for stdout:ndjson and a webhook: the position to continue from, written at the end')
    .option('--secret-file <file>', 'for a webhook: file of the signing secret, in a second line the former one')
    .option('--sftp-known-hosts-file <file>', 'for rclone: the host keys of SFTP servers, such as ~/.ssh/known_hosts')
    .option('--expiring <durations>', 'for a webhook: tell of subscriptions that end within these, such as 7d,3d,1d')
    .option('--expiring-all', 'with --expiring: also of subscriptions that renew automatically')
    .option(
      '--retry-seconds <number>',
      'how long a sync is retried after its first temporary failure',
      integerFrom(0, 86_400, 300),
      300,
    )
    .option('--json', 'print JSON')
    .option('-q, --quiet', 'suppress messages other than errors');

/** Opens the place of files of a command. Prints what the user should know before it is used. */
export async function openPlace(options: CopyOptions, output: Output, signal: AbortSignal): Promise<FileStore> {
  const { openFiles } = await import('../sync/open-destination.ts');
  const files = await openFiles(options, allVariables(), signal);
  if (files.warning !== undefined) output.stderr.write(`${files.warning}\n`);
  return files;
}

/** The service and the client whose report a command reads. */
export function sourceOf(options: CopyOptions): Source {
  const { client, profile } = connect(options);
  return { client, service: profile.base_url, clientId: profile.client_id };
}

/** Exit code 2 for what the user must change, 75 for a temporary failure, 1 for any other. */
export async function withSyncErrors(work: () => Promise<void>): Promise<void> {
  const { SyncError } = await import('../sync/error.ts');
  const { isTemporary } = await import('../sync/retry-run.ts');
  try {
    await work();
  } catch (error) {
    if (isTemporary(error)) throw new TemporaryError((forUser(error) as Error).message, { cause: error });
    if (!(error instanceof SyncError)) throw error;
    const isUsage = ['DESTINATION_INVALID', 'DESTINATION_CHANGED', 'OTHER_SOURCE', 'DESTINATION_GONE'].includes(
      error.code,
    );
    throw new (isUsage ? UsageError : CommandError)(error.message, { cause: error });
  }
}
