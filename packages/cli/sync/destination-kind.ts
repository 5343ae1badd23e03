import type { FileStore } from './files/file-store.ts';
import type { Destination } from './table/destination.ts';
import type { TableDatabase } from './table/table-copy.ts';

/** The options of a command of a copy: `secretFile` is that of `--secret-file`. */
export interface GivenOptions {
  /** Where the copy is kept: a value that matches the `pattern` of a destination. */
  readonly to: string;
  readonly [option: string]: unknown;
}

/** An option that not every destination has. */
export interface DestinationOption {
  /** As commander reads them: `--state <file>`. */
  readonly flags: string;
  /** Without the names of its destinations, which the help adds. */
  readonly description: string;
  /** The values that it may have, and the one without it. */
  readonly choices?: readonly string[];
  readonly fallback?: string;
  /** Whether only `sync run` has it: other commands of the same copy do without. */
  readonly isOfRun?: boolean;
}

/** Of a destination that can have its whole report again. */
export const reloadOption: DestinationOption = {
  flags: '--reload',
  description: 'read the whole report again, and bring the copy in step with it',
  isOfRun: true,
};

interface Described {
  /** How `--to` names one: `sqlite:FILE`. */
  readonly form: string;
  /** Matches each value of `--to` that means one, and no value of another destination. */
  readonly pattern: RegExp;
  /** What is kept there, as the end of a sentence: `a table in a file of SQLite`. */
  readonly keeps: string;
  /** The options that it has besides those of its mode. */
  readonly options?: readonly DestinationOption[];
  /** Sentences for the help of `sync run`, in lines of at most 120 columns. */
  readonly note?: string;
  /** What follows `subreport sync` in the examples; the first one is also that of the page. */
  readonly examples: readonly [string, ...string[]];
}

/** A table in a database that is kept in step, and can be read again. */
interface TableDestination extends Described {
  readonly mode: 'table';
  /** Whether a table may be named `schema.table`. */
  readonly mayHaveSchema: boolean;
  /** Connects; `create`: whether to create a database. Throws `SyncError` if it cannot. */
  open(given: GivenOptions, create: boolean): Promise<TableDatabase>;
}

/** A place that gets a new file with the whole report in each run. */
interface FilesDestination extends Described {
  readonly mode: 'files';
  /** Throws `SyncError` if the place cannot be used. `signal` ends what it starts. */
  open(given: GivenOptions, environment: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<FileStore>;
}

/** Lines for a program, which cannot be read again. */
interface StreamDestination extends Described {
  readonly mode: 'stream';
  /** `write` writes to standard output. */
  open(given: GivenOptions, write: (text: string) => Promise<void>): Promise<Destination>;
}

/** An endpoint that receives events; `run-webhook.ts` keeps its state and retries. */
interface WebhookDestination extends Described {
  readonly mode: 'webhook';
}

/** What a command knows of a destination before it opens one. */
export type DestinationKind = TableDestination | FilesDestination | StreamDestination | WebhookDestination;
