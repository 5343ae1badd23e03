import { type Command, Option } from 'commander';
import { didYouMean } from '../../contract/suggest.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { allVariables } from '../../terminal/environment.ts';
import { CommandError, TemporaryError, UsageError } from '../../terminal/error.ts';
import { type Output, writeResult } from '../../terminal/output.ts';
import { forUser } from '../../terminal/reader-action.ts';
import type { DestinationOption } from '../sync/destination-kind.ts';
import type { DestinationOptions } from '../sync/destinations.ts';
import {
  allModes,
  destinationNamed,
  destinations,
  destinationsWith,
  formsOf,
  type Mode,
  optionsOf,
} from '../sync/destinations.ts';
import type { SnapshotFormat } from '../sync/files/file-format.ts';
import type { FileStore } from '../sync/files/file-store.ts';
import type { Source } from '../sync/source/read-source.ts';

/** The options of every command of a copy. */
export interface CopyOptions extends ProfileOption, DestinationOptions {
  readonly format: SnapshotFormat;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Throws unless a command has no words besides its options, and a destination that has them. */
async function requireDestination(command: Command, modes: readonly Mode[]): Promise<void> {
  const [word] = command.args;
  if (word !== undefined) {
    const known = command.parent?.commands.filter((each) => each !== command).map((each) => each.name()) ?? [];
    throw new UsageError(
      `Cannot run 'sync ${word}': it must be ${known.join(', ')} or an option${didYouMean(word, known)}`,
    );
  }
  const to: unknown = command.getOptionValue('to');
  if (to === undefined)
    throw new UsageError('Cannot run the command: --to <destination> must be given, such as --to sqlite:copy.db');
  await withSyncErrors(async () => {
    const kind = destinationNamed(String(to), modes);
    for (const option of command.options) {
      const kinds = destinationsWith(option.long ?? '');
      const isGiven = command.getOptionValueSource(option.attributeName()) === 'cli';
      if (!isGiven || kinds.length === 0 || kinds.includes(kind)) continue;
      throw new UsageError(
        `Cannot use ${option.long}: --to must be ${kinds.map(({ form }) => form).join(' or ')}: current value is ${kind.form}`,
      );
    }
  });
}

/**
 * Adds the options of every command of a copy, so that one line of options suits all of them, and
 * those of its destinations. `modes` are those of the destinations that the command can use.
 */
export function addCopyOptions(command: Command, modes: readonly Mode[] = allModes): Command {
  addProfileOption(command).option('--to <destination>', `the copy: ${formsOf(modes)}`);
  const isRun = command.name() === 'run';
  const options = new Map(destinations.flatMap((kind) => optionsOf(kind).map((option) => [option.flags, option])));
  for (const option of options.values()) if (isRun || option.isOfRun !== true) command.addOption(optionFrom(option));
  return command
    .option('--json', 'print JSON')
    .option('-q, --quiet', 'suppress messages other than errors')
    .hook('preAction', () => requireDestination(command, modes));
}

function optionFrom({ flags, description, choices, fallback }: DestinationOption): Option {
  const [name = ''] = flags.split(' ');
  const schemes = destinationsWith(name).map(({ form }) => form.slice(0, form.indexOf(':') + 1));
  const option = new Option(flags, `${description} (${schemes.join(', ')})`);
  if (choices !== undefined) option.choices(choices);
  return fallback === undefined ? option : option.default(fallback);
}

/** Opens the place of files of a command. Prints what the user should know before it is used. */
export async function openPlace(options: CopyOptions, output: Output, signal: AbortSignal): Promise<FileStore> {
  const { openFiles } = await import('../sync/destinations.ts');
  const files = await openFiles(options, allVariables(), signal);
  if (files.warning !== undefined) output.stderr.write(`${files.warning}\n`);
  return files;
}

/** Writes the result of a command of a copy; with `--quiet`, only as JSON. */
export const writeUnlessQuiet = (output: Output, { json, quiet }: CopyOptions, value: unknown, text: string): void => {
  if (json === true || quiet !== true) writeResult(output, json === true, value, text);
};

/** The service and the client whose report a command reads. */
export function sourceOf(options: CopyOptions): Source {
  const { client, profile } = connect(options);
  return { client, service: profile.base_url, clientId: profile.client_id };
}

/** Exit code 2 for what the user must change, 75 for a temporary failure, 1 for any other. */
export async function withSyncErrors(work: () => Promise<void>): Promise<void> {
  const { SyncError } = await import('../sync/source/error.ts');
  const { isTemporary } = await import('../sync/source/is-temporary.ts');
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
