import { type DestinationKind, type DestinationOption, type GivenOptions, reloadOption } from './destination-kind.ts';
import { snapshotFormats } from './files/file-format.ts';
import type { FileStore } from './files/file-store.ts';
import { SyncError } from './source/error.ts';
import type { Destination } from './table/destination.ts';
import type { TableCopy } from './table/table-copy.ts';

/** Of a destination that cannot keep its own position. */
const stateOption: DestinationOption = {
  flags: '--state <file>',
  description: 'the position to continue from, written at the end',
};

/**
 * All destinations, in the order of the help. Commands and a table of docs follow. What a
 * destination opens is imported only then: every command of `subreport` loads this file.
 */
export const destinations: readonly DestinationKind[] = [
  {
    mode: 'table',
    form: 'sqlite:FILE',
    pattern: /^sqlite:./s,
    keeps: 'a table in a file of SQLite',
    examples: ['--to sqlite:copy.db'],
    mayHaveSchema: false,
    async open({ to }, create) {
      const { SqliteTables } = await import('./table/sqlite-table.ts');
      return new SqliteTables(to.slice('sqlite:'.length), create);
    },
  },
  {
    mode: 'table',
    form: 'postgres://USER@HOST/DATABASE',
    pattern: /^postgres(ql)?:\/\//,
    keeps: 'a table in a database of PostgreSQL',
    note: `The password of PostgreSQL may be in PGPASSWORD or ~/.pgpass. A database of another machine needs
sslmode=verify-full in its URL, and sslrootcert=FILE for a private authority.`,
    examples: ["--to 'postgres://reports@db.example.com/warehouse?sslmode=verify-full' --table mobile.subscriptions"],
    mayHaveSchema: true,
    options: [
      {
        flags: '--allow-plain',
        description: 'permit a connection to another machine that is not verified: records can be read on the way',
      },
    ],
    async open({ to, allowPlain }) {
      const { PostgresTables } = await import('./table/postgres-table.ts');
      return PostgresTables.connect(to, allowPlain === true);
    },
  },
  {
    mode: 'files',
    form: 'dir:PATH',
    pattern: /^dir:./s,
    keeps: 'files in a folder of this machine, or one that is mounted here',
    examples: ['--to dir:/var/exports --format csv.gz'],
    async open({ to }) {
      const { FolderFiles } = await import('./files/folder-files.ts');
      return FolderFiles.open(to.slice('dir:'.length));
    },
  },
  {
    mode: 'files',
    form: 'rclone:REMOTE:PATH',
    pattern: /^rclone:/,
    keeps: 'files in S3, Google Cloud Storage, Azure, SFTP or another of the stores of rclone',
    note: `rclone writes to S3, Google Cloud Storage, Azure, SFTP and some seventy other stores;
'rclone config' makes a REMOTE with their credentials.`,
    examples: ['--to rclone:s3:exports/subreport --format parquet', '--to rclone:sftp:/reports'],
    async open({ to }, environment, signal) {
      const { RcloneFiles } = await import('./files/rclone-files.ts');
      return RcloneFiles.open(to.slice('rclone:'.length), { environment, signal });
    },
  },
  {
    mode: 'webhook',
    form: 'webhook:URL',
    pattern: /^webhook:/,
    keeps: 'messages to an endpoint: that something has changed, or that a subscription ends soon',
    options: [
      stateOption,
      { flags: '--secret-file <file>', description: 'file of the signing secret, in a second line the former one' },
      {
        flags: '--expiring <durations>',
        description: 'tell of subscriptions that end within these, such as 7d,3d,1d',
      },
      { flags: '--enable', description: 'deliver again after a response with 410', isOfRun: true },
    ],
    examples: [
      '--to webhook:https://example.com/hooks --state webhook.db --secret-file webhook.secret --expiring 7d,1d',
    ],
  },
  {
    mode: 'stream',
    form: 'stdout:ndjson',
    pattern: /^stdout:ndjson$/,
    keeps: 'lines for a program, on standard output',
    options: [reloadOption, stateOption],
    examples: ['--to stdout:ndjson --state sync.db | ./load-changes'],
    async open({ state, reload }, write) {
      const { NdjsonOutput } = await import('./table/ndjson-output.ts');
      return new NdjsonOutput(write, state === undefined ? undefined : String(state), reload === true);
    },
  },
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
  const shown = isOther || /@|:\/\//.test(to) ? to.replace(/:(\/\/)?.*/s, ':$1…') : to;
  throw new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --to: it must be ${formsOf(modes)}, such as ${exampleOf(possible)}: current value is '${shown}'`,
  );
}

/** The value of `--to` in the first example. */
const exampleOf = ([kind]: readonly DestinationKind[]): string => kind?.examples[0].split(' ')[1] ?? '';

/** Where a copy is kept, as the command line names it. */
export interface DestinationOptions extends GivenOptions {
  /** The table in a database; in PostgreSQL `schema.table` too. */
  readonly table: string;
  /** Whether to load the whole report again. */
  readonly reload?: boolean;
}

/** Opens a destination for a sync. Throws `SyncError` if it is not one, or cannot be reached. */
export async function openDestination(
  options: DestinationOptions,
  write: (text: string) => Promise<void>,
): Promise<Destination> {
  const kind = destinationNamed(options.to, ['table', 'stream']);
  return kind.mode === 'stream' ? kind.open(options, write) : openTable(options, true);
}

/** Opens a place of files. Throws `SyncError` if it cannot be used. */
export const openFiles = async (
  options: GivenOptions,
  environment: NodeJS.ProcessEnv = {},
  signal?: AbortSignal,
): Promise<FileStore> => destinationNamed(options.to, ['files']).open(options, environment, signal);

/** Opens a copy to read it. Throws `SyncError` if there is none that can be read. */
export const openCopy = (options: DestinationOptions): Promise<TableCopy> => openTable(options, false);

async function openTable(options: DestinationOptions, create: boolean): Promise<TableCopy> {
  const { to, table, reload } = options;
  const kind = destinationNamed(to, ['table']);
  requireTable(table, kind.mayHaveSchema);
  const { TableCopy } = await import('./table/table-copy.ts');
  return new TableCopy(await kind.open(options, create), table, reload);
}

function requireTable(table: string, mayHaveSchema: boolean): void {
  const name = '[a-z_][a-z0-9_]{0,62}';
  const pattern = new RegExp(`^${mayHaveSchema ? `(${name}\\.)?` : ''}${name}$`);
  if (pattern.test(table) && !/(^|\.)subreport_sync/.test(table)) return;
  throw new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --table: it must be a name of lower-case letters, digits and _ that does not begin with subreport_sync${mayHaveSchema ? ', with its schema if necessary' : ''}, such as subscriptions: current value is '${table}'`,
  );
}
