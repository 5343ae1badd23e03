import { countLoaded, type RowChange, toLastKey } from '../counts/count-changes.ts';
import { ask } from '../counts/count-work.ts';
import { toCountedRow } from '../counts/counted-row.ts';
import type { LoadCounts, Row } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { dataBytesOf, growthOf, sumsOf } from '../tables/storage-use.ts';
import type { ChangeWork } from './change-request.ts';
import type { Changed, ChangeOptions, RowChanges } from './commit-change.ts';
import { reviveRows, selectAnyTombstone, selectLastKey } from './statements.ts';

interface Load {
  readonly rows: readonly SubscriptionRow[];
  readonly expectsNew: boolean;
}

/** Inserts or updates rows; equal rows stay as they are. */
export const loadRows = (
  { rows, expectsNew }: Load,
  { keepsHistory }: Pick<ChangeOptions, 'keepsHistory'>,
): RowChanges<LoadCounts> => ({
  reads: [ask(selectAnyTombstone), ask(selectLastKey)],
  *write({ revision, found }): ChangeWork<Changed<LoadCounts>> {
    const [tombstones = [], [lastRow] = []] = found;
    const [stored = []] = yield [{ kind: 'store', rows, revision, keepsHistory, expectsNew }];
    const changed = stored.flatMap((row) => toChange(row, rows[Number(row.number)]));
    // a row that already existed has no tombstone
    const inserted = changed.flatMap(({ before, after }) => (before === undefined && after ? [after.id] : []));
    const isRevival = tombstones.length > 0 && inserted.length > 0;
    const [revived = []] = isRevival ? yield [ask(reviveRows, inserted)] : [];
    const result = countLoaded(rows.length, changed);
    if (changed.length === 0) return { result };
    const sums = sumsOf(changed, revived.length);
    const effect = {
      counted: changed,
      lastKey: toLastKey(lastRow),
      growth: growthOf(sums, keepsHistory),
      versions: keepsHistory ? sums.before.rows : 0,
    };
    return { result, effect };
  },
});

const toChange = (stored: Row, after: SubscriptionRow | undefined): readonly RowChange[] =>
  after === undefined
    ? []
    : [{ ...(stored.id !== undefined && toRemoved(stored)), after, bytesAfter: dataBytesOf(after) }];

/** The change of a removed row, with its `bytes`. */
export const toRemoved = (row: Row): RowChange => ({ before: toCountedRow(row), bytesBefore: Number(row.bytes) });
