import type { Destination, ReadableCopy } from './destination.ts';
import { SyncError } from './error.ts';
import type { FileStore } from './file-store.ts';

/** Where a copy is kept, as the command line names it. */
export interface DestinationOptions {
  /** `sqlite:FILE`, `postgres://…` or `stdout:ndjson`. */
  readonly to: string;
  /** The table in a database; in PostgreSQL `schema.table` too. */
  readonly table: string;
  /** Whether to load the whole report again. */
  readonly reload?: boolean;
  /** File that keeps the position of a stream. */
  readonly state?: string;
}

/** Opens a destination for a sync. Throws `SyncError` if it is not one, or cannot be reached. */
export async function openDestination(
  options: DestinationOptions,
  write: (text: string) => Promise<void>,
): Promise<Destination> {
  const { to } = options;
  if (to === 'stdout:ndjson') {
    const { NdjsonOutput } = await import('./ndjson-output.ts');
    return new NdjsonOutput(write, options.reload === true ? undefined : options.state);
  }
  return openTable(options, true);
}

/** Whether a destination has a new file for each run, instead of a copy that is kept in step. */
export const isFilePlace = (to: string): boolean => /^(dir:|rclone:|s3:\/\/|sftp:\/\/)/.test(to);

/** What a place of files needs besides its URL. */
export interface PlaceOptions {
  readonly to: string;
  /** The host keys of SFTP servers, for rclone. */
  readonly sftpKnownHostsFile?: string;
}

/** Opens a place of files. Throws `SyncError` if it cannot be used. */
export async function openFiles(
  { to, sftpKnownHostsFile: knownHosts }: PlaceOptions,
  environment: NodeJS.ProcessEnv = {},
  signal?: AbortSignal,
): Promise<FileStore> {
  if (to.startsWith('dir:')) {
    const { FolderFiles } = await import('./folder-files.ts');
    return FolderFiles.open(to.slice('dir:'.length));
  }
  if (!to.startsWith('rclone:')) throw formerDestination(to);
  const { RcloneFiles } = await import('./rclone-files.ts');
  const pinned = knownHosts === undefined ? {} : { RCLONE_SFTP_KNOWN_HOSTS_FILE: knownHosts };
  return RcloneFiles.open(to.slice('rclone:'.length), { environment: { ...environment, ...pinned }, signal });
}

/** The error of `s3://…` or `sftp://…`, with the same place as rclone names it. */
function formerDestination(to: string): SyncError {
  const [, scheme = '', host = '', path = ''] = /^(\w+):\/\/(?:[^@/]*@)?([^/:?]*)[^/?]*([^?]*)/s.exec(to) ?? [];
  const place = scheme === 's3' ? `${host}${path}` : path.replace(/^\/~\//, '');
  const remote = scheme === 's3' ? 'type s3 with the region' : `type sftp for ${host}`;
  return new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --to ${scheme}://…: rclone must write the files: use --to rclone:${scheme}:${place}, after 'rclone config' has made the remote ${scheme} of ${remote}`,
  );
}

/** Opens a copy to read it. Throws `SyncError` if there is none that can be read. */
export const openCopy = (options: DestinationOptions): Promise<ReadableCopy> => openTable(options, false);

async function openTable(options: DestinationOptions, create: boolean): Promise<Destination & ReadableCopy> {
  const { to, table, reload } = options;
  const isPostgres = /^postgres(ql)?:\/\//.test(to);
  const file = /^sqlite:(.+)$/s.exec(to)?.[1];
  if (!isPostgres && file === undefined) throw unknownDestination(to);
  requireTable(table, isPostgres);
  const { TableCopy } = await import('./table-copy.ts');
  if (file === undefined) {
    const { PostgresTables } = await import('./postgres-table.ts');
    return new TableCopy(await PostgresTables.connect(to), table, reload);
  }
  const { SqliteTables } = await import('./sqlite-table.ts');
  return new TableCopy(new SqliteTables(file, create), table, reload);
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

const unknownDestination = (to: string): SyncError =>
  new SyncError(
    'DESTINATION_INVALID',
    `Cannot use --to: it must be sqlite:FILE, postgres://USER@HOST/DATABASE, dir:PATH, rclone:REMOTE:PATH, webhook:URL or stdout:ndjson, such as sqlite:copy.db: current value is '${to.replace(/:\/\/.*/s, '://…')}'`,
  );
