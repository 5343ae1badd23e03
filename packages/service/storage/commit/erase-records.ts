import { ask } from '../counts/count-work.ts';
import type { RecordOwner, Row } from '../store.ts';
import { erasedGrowth, growthOf, sumErased, sumsOf } from '../tables/storage-use.ts';
import { eraseVersionsOf } from '../tables/subscription-ids.ts';
import type { ChangeWork } from './change-request.ts';
import type { Changed, ChangeOptions, RowChanges } from './commit-change.ts';
import { toRemoved } from './load-rows.ts';
import { addErasure, buryRows, deleteRows, eraseVersions } from './statements.ts';

interface Erasure {
  readonly ids: readonly string[];
  /** Whose former versions are erased, too. */
  readonly owner: RecordOwner | undefined;
}

/**
 * Erases rows and their former versions. Also if only versions are erased, a revision begins: the
 * ETag of a response with them must no longer match.
 */
export const eraseRecords = (
  { ids, owner }: Erasure,
  { keepsHistory }: Pick<ChangeOptions, 'keepsHistory'>,
): RowChanges<number> => ({
  *write({ revision }): ChangeWork<Changed<number>> {
    const [, removed = [], ...erased] = yield [
      ask(buryRows, revision, ids),
      ask(deleteRows, ids),
      ask(eraseVersions, ids),
      ...(owner === undefined ? [] : [ask(eraseVersionsOf[owner.column], owner.value)]),
    ];
    const versions = erased.flat();
    if (removed.length + versions.length === 0) return { result: 0 };
    const ranges = keepsHistory ? erasedRanges([...removed, ...versions], revision) : [];
    const stored = yield ranges.map(({ from, until, n }) => ask(addErasure, from, until, n));
    const newRanges = ranges.filter(({ n }, index) => Number(stored[index]?.[0]?.n) === n).length;
    const counted = removed.map(toRemoved);
    const { records, total } = growthOf(sumsOf(counted, 0), false);
    const growth = { records, total: total + erasedGrowth(sumErased(versions, newRanges)) };
    return { result: removed.length, effect: { counted, growth, versions: -versions.length } };
  },
});

/** The revisions in which some erased records were current. */
interface ErasedRange {
  readonly from: number;
  readonly until: number;
  readonly n: number;
}

/**
 * Adds up erased versions: only their revisions may be kept. Rows have `from_revision` and perhaps
 * `until_revision`; without it, the record was current until `revision`.
 */
function erasedRanges(rows: readonly Row[], revision: number): readonly ErasedRange[] {
  const ranges = rows.map(({ from_revision: from, until_revision: until }) => ({
    from: Number(from),
    until: Number(until ?? revision),
  }));
  return [...Map.groupBy(ranges, ({ from, until }) => `${from} ${until}`).values()].flatMap(([range, ...others]) =>
    range === undefined ? [] : [{ ...range, n: 1 + others.length }],
  );
}
