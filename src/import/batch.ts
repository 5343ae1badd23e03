import { StorageError } from '../storage/error.ts';
import type { Comparison } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import type { StoredRecord, StoredRecords } from '../storage/tables/stored-record.ts';
import { checkRow } from './check-row.ts';
import { checkSourceRow, type RowReading, rejectRow } from './read-valid-rows.ts';
import type { SourceRow } from './source-row.ts';
import { idOf, isStoredText } from './stored-row.ts';
import { endTurn } from './turns.ts';

/** The valid rows of one transaction; of rows with one id only the last. */
export class Batch {
  readonly #changed = new Map<string, SubscriptionRow>();
  /** By id, the rows that are stored as they are, made on request. */
  readonly #same = new Map<string, () => SubscriptionRow>();
  #revision: number | undefined;

  /**
   * Adds valid rows and reports the rejected ones. A row that equals one of the stored records is
   * not checked: it was valid when it was stored.
   */
  async add(rows: readonly SourceRow[], stored: StoredRecords | undefined, reading: RowReading): Promise<void> {
    this.#revision ??= stored?.revision;
    for (const row of rows) {
      reading.tally.read += 1;
      const id = stored && idOf(row);
      if (!this.#addIfStored(row, id, id === undefined ? undefined : stored?.records.get(id))) {
        const checked = checkSourceRow(row);
        if ('row' in checked) this.#put(checked.row, stored?.records.get(checked.row.id));
        else await rejectRow(row, checked.faults, reading);
      }
      const turn = endTurn();
      if (turn !== undefined) await turn;
    }
  }

  /** The rows that are not known to be stored. */
  get changedRows(): readonly SubscriptionRow[] {
    return [...this.#changed.values()];
  }

  /** The comparison with the stored records, if there was one. */
  get comparison(): Comparison | undefined {
    return this.#revision === undefined ? undefined : { revision: this.#revision, unchanged: this.#same.size };
  }

  /** All rows, if the comparison no longer holds. */
  allRows(): readonly SubscriptionRow[] {
    return [...this.changedRows, ...Array.from(this.#same.values(), (toRow) => toRow())];
  }

  #addIfStored(row: SourceRow, id: string | undefined, stored: StoredRecord | undefined): boolean {
    const { raw, isUndecoded } = row;
    if (id === undefined || stored === undefined || isUndecoded || !isStoredText(raw, stored)) return false;
    this.#changed.delete(id);
    this.#same.set(id, () => validRow(raw));
    return true;
  }

  #put(row: SubscriptionRow, stored: StoredRecord | undefined): void {
    const isSame = stored?.record === row.record && stored.email === row.email;
    this.#changed.delete(row.id);
    this.#same.delete(row.id);
    if (isSame) this.#same.set(row.id, () => row);
    else this.#changed.set(row.id, row);
  }
}

/** Checks a row that was stored, until somebody changed the records. */
function validRow(raw: string): SubscriptionRow {
  const checked = checkRow(JSON.parse(raw));
  if ('row' in checked) return checked.row;
  throw new StorageError(
    'BUSY',
    'Cannot load the rows: the stored records must not change during this import, because this version no longer accepts some that an earlier one stored; run the import again',
  );
}
