import { type DestinationKind, type DestinationOption, reloadOption } from './destination-kind.ts';
import { snapshotFormats } from './files/file-format.ts';
import { folderDestination } from './folder-destination.ts';
import { postgresDestination } from './postgres-destination.ts';
import { rcloneDestination } from './rclone-destination.ts';
import { SyncError } from './source/error.ts';
import { sqliteDestination } from './sqlite-destination.ts';
import { stdoutDestination } from './stdout-destination.ts';
import { webhookDestination } from './webhook-destination.ts';

/** All destinations, in the order of the help. Commands and a table of docs follow. */
export const destinations: readonly DestinationKind[] = [
  sqliteDestination,
  postgresDestination,
  folderDestination,
  rcloneDestination,
  webhookDestination,
  stdoutDestination,
];

/** What a destination can do: which commands it has, and how they work. */
export type Mode = DestinationKind['mode'];

type Of<M extends Mode> = Extract<DestinationKind, { readonly mode: M }>;

/** The options that all destinations of a mode have. */
const optionsOfMode: Readonly<Record<Mode, readonly DestinationOption[]>> = {
  table: [{ flags: '--table <name>', description: 'the table', fallback: 'subscriptions' }, reloadOption],
  files: [
    {
      flags: '--format <format>',
      description: 'the format; with .gz compressed',
      choices: snapshotFormats,
      fallback: 'csv',
    },
    {
      flags: '--query <link>',
      description: "only the question of a link of the report's console, or of its query string",
      isOfRun: true,
    },
    { flags: '--keep <duration>', description: 'how long older files are kept, such as 30d (default: for ever)' },
    {
      flags: '--spreadsheet',
      description: 'in CSV, an apostrophe before values that a spreadsheet would take for a formula',
      isOfRun: true,
    },
    {
      flags: '--scheduled-for <date-time>',
      description: 'the instant of the run, once for each (default: now)',
      isOfRun: true,
    },
  ],
  stream: [],
  webhook: [],
};

/** All options of a destination. */
export const optionsOf = ({ mode, options = [] }: DestinationKind): readonly DestinationOption[] => [
  ...optionsOfMode[mode],
  ...options,
];

/** The destinations that have an option of this name: `--state`. */
export const destinationsWith = (name: string): readonly DestinationKind[] =>
  destinations.filter((kind) => optionsOf(kind).some(({ flags }) => flags.split(' ')[0] === name));

/** The forms of the destinations of some modes: `sqlite:FILE, dir:PATH or webhook:URL`. */
export function formsOf(modes: readonly Mode[]): string {
  const forms = ofModes(modes).map(({ form }) => form);
  return [forms.slice(0, -1).join(', '), ...forms.slice(-1)].filter((part) => part !== '').join(' or ');
}

/** The destinations of some modes. */
const ofModes = <M extends Mode>(modes: readonly M[]): readonly Of<M>[] =>
  destinations.filter((kind): kind is Of<M> => (modes as readonly Mode[]).includes(kind.mode));

export const allModes: readonly Mode[] = ['table', 'files', 'webhook', 'stream'];

/** The destination of one of some modes that `--to` names. Throws `SyncError` if it is none. */
export function destinationNamed<M extends Mode = Mode>(to: string, modes: readonly M[] = allModes as M[]): Of<M> {
  const possible = ofModes(modes);
  const found = possible.find(({ pattern }) => pattern.test(to));
  if (found !== undefined) return found;
  // what follows the scheme may be secret
  const isOther = destinations.some(({ pattern }) => pattern.test(to));
  const shown = to.replace(isOther ? /:.*/s : /:\/\/.*/s, (text) => (text.startsWith('://') ? '://…' : ':…'));
  throw new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --to: it must be ${formsOf(modes)}, such as ${exampleOf(possible)}: current value is '${shown}'`,
  );
}

/** The value of `--to` in the first example. */
const exampleOf = ([kind]: readonly DestinationKind[]): string => kind?.examples[0].split(' ')[1] ?? '';
