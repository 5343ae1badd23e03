import { ImportError, sayLeft } from './error.ts';
import type { ImportOptions, ImportSummary } from './import-records.ts';
import type { RejectedRow } from './read-valid-rows.ts';
import { bytesOfRow, type OnRow, type RoomCheck, requireRoomFor, SourceValues } from './require-room.ts';

interface StrictOptions extends Pick<ImportOptions, 'dryRun' | 'onRejected'> {
  /** Name of the source in messages, such as its file name. */
  readonly sourceName?: string | undefined;
  /** Reads the source from its beginning and imports it. */
  readonly importOnce: (pass: Pick<ImportOptions, 'dryRun' | 'onRejected' | 'onChecked'>) => Promise<ImportSummary>;
  /** Where the rows are stored. */
  readonly target: Pick<RoomCheck, 'store' | 'tenant'>;
}

/** The result of a strict import; `refused` is the reason if it loaded nothing. */
export interface StrictSummary extends ImportSummary {
  readonly refused?: ImportError;
}

/**
 * Imports a source only if every row is valid: reads it once to check it, then again to load it.
 * Throws `ImportError` `BAD_ROWS` if the source changed between the passes, and `OVER_BUDGET` if
 * the rows do not all fit into the storage budget of the tenant.
 */
export async function importStrictly({
  sourceName,
  dryRun,
  onRejected,
  importOnce,
  target,
}: StrictOptions): Promise<StrictSummary> {
  let bytes = 0;
  const values = new SourceValues();
  const addUp: OnRow = async (row) => {
    bytes += bytesOfRow(row);
    values.add(row);
  };
  const checked = await importOnce({ dryRun: true, onRejected, onChecked: addUp });
  if (checked.rejected > 0) {
    const source = sourceName === undefined ? '' : ` '${sourceName}'`;
    const refused = new ImportError(
      'BAD_ROWS',
      `Cannot import${source} strictly: every row must be valid: ${checked.rejected} of ${checked.read} are not; nothing was loaded`,
    );
    return { ...checked, refused };
  }
  const readAgain = (onRow: OnRow) => importOnce({ dryRun: true, onRejected: failOnChange, onChecked: onRow });
  const refuse = sayLeft('nothing was loaded');
  for (let read: SourceValues | undefined = values; read !== undefined; ) {
    await read.requireFewIn(target).catch(refuse);
    const rest: SourceValues | undefined = read.unread.size === 0 ? undefined : new SourceValues(read.unread);
    if (rest !== undefined) await readAgain(async (row) => rest.add(row));
    read = rest;
  }
  await requireRoomFor({ ...target, bytes, readAgain }).catch(refuse);
  if (dryRun) return checked;
  const loaded = await importOnce({ dryRun: false, onRejected: failOnChange });
  if (loaded.read !== checked.read) throw changedWhileRead(`it had ${checked.read} rows, then ${loaded.read}`);
  return loaded;
}

/** Every row was valid in the first pass. */
function failOnChange({ line }: RejectedRow): never {
  throw changedWhileRead(`line ${line} was valid before`);
}

const changedWhileRead = (difference: string): ImportError =>
  new ImportError(
    'BAD_ROWS',
    `Cannot continue the strict import: the source must not change while it is read: ${difference}`,
  );
