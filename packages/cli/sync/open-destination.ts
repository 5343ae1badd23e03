import type { GivenOptions } from './destination-kind.ts';
import { destinationNamed } from './destinations.ts';
import type { FileStore } from './files/file-store.ts';
import { SyncError } from './source/error.ts';
import type { Destination, ReadableCopy } from './table/destination.ts';

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
export const openCopy = (options: DestinationOptions): Promise<ReadableCopy> => openTable(options, false);

async function openTable(options: DestinationOptions, create: boolean): Promise<Destination & ReadableCopy> {
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
