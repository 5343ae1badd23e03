import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { ImportError, sayLeft } from './error.ts';
import { type ImportSummary, nothingLoaded, summaryOf } from './import-summary.ts';
import { batchRows } from './read-batches.ts';
import { decompressed, noRowsYet, type RejectedRow, readValidRows, type SourceOptions } from './read-valid-rows.ts';
import { bytesOfRow, type OnRow, type RoomCheck, requireRoomFor, SourceValues } from './require-room.ts';
import type { ImportSource } from './require-whole.ts';

export interface ImportOptions extends SourceOptions {
  /** Check every row and load none. */
  readonly dryRun: boolean;
  /** Maximum rows per transaction, for a process that also serves requests. */
  readonly batchRowsMax?: number | undefined;
}

/** Checks every row of a source, and passes on each valid one. */
export async function checkRows(
  source: AsyncIterable<Buffer>,
  options: SourceOptions,
  onChecked?: (row: SubscriptionRow) => Promise<void>,
): Promise<ImportSummary> {
  const tally = noRowsYet();
  try {
    for await (const row of readValidRows(decompressed(source, options), { ...options, tally })) {
      await onChecked?.(row);
      if (tally.read % batchRows === 0) options.onProgress?.(tally.read);
    }
  } finally {
    options.onCounts?.({ ...tally, ...nothingLoaded });
  }
  return summaryOf(tally, nothingLoaded);
}

/**
 * Checks that every row of a source is valid, and that the tenant has room for all of them; the
 * result is `refused` unless they are valid. Throws `ImportError` `OVER_BUDGET` without room, and
 * `BAD_ROWS` if the source changes meanwhile.
 */
export async function checkStrictly(
  { name, open }: Pick<ImportSource, 'name' | 'open'>,
  target: Pick<RoomCheck, 'store' | 'tenant'>,
  options: SourceOptions,
): Promise<ImportSummary> {
  let bytes = 0;
  const values = new SourceValues();
  const checked = await checkRows(open(), options, async (row) => {
    bytes += bytesOfRow(row);
    values.add(row);
  });
  if (checked.rejected > 0) return { ...checked, refused: notAllValid(name, checked) };
  const readAgain = (onRow: OnRow) => checkRows(open(), { ...options, onRejected: failOnChange }, onRow);
  const refuse = sayLeft('nothing was loaded');
  await values.requireFewIn(target, readAgain).catch(refuse);
  await requireRoomFor({ ...target, bytes, readAgain }).catch(refuse);
  return checked;
}

function notAllValid(name: string | undefined, { rejected, read }: ImportSummary): ImportError {
  const source = name === undefined ? '' : ` '${name}'`;
  return new ImportError(
    'BAD_ROWS',
    `Cannot import${source} strictly: every row must be valid: ${rejected} of ${read} are not; nothing was loaded`,
  );
}

/** Loads a source that was checked; throws `ImportError` `BAD_ROWS` if it has other rows now. */
export async function unchangedSince(
  checked: ImportSummary,
  load: (onRejected: typeof failOnChange) => Promise<ImportSummary>,
): Promise<ImportSummary> {
  const loaded = await load(failOnChange);
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
