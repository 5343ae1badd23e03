import { ask } from '../counts/count-work.ts';
import { countedColumns } from '../counts/counted-row.ts';
import type { ErasedCounts, RecordOwner, TenantSql } from '../store.ts';
import { dataBytes, erasedGrowth, growthOf, sumsOf } from '../tables/storage-use.ts';
import type { ChangeWork } from './change-request.ts';
import type { Changed, ChangeOptions, RowChanges } from './commit-change.ts';
import { toRemoved } from './load-rows.ts';

interface Erasure {
  readonly ids: readonly string[];
  readonly owner: RecordOwner | undefined;
}

/**
 * Erases rows and their former versions. Also if only versions are erased, a revision begins: the
 * ETag of a response with them must no longer match.
 */
export const eraseRecords = (
  { ids, owner }: Erasure,
  { keepsHistory }: Pick<ChangeOptions, 'keepsHistory'>,
): RowChanges<ErasedCounts> => ({
  *write({ revision }): ChangeWork<Changed<ErasedCounts>> {
    const { noteVersions, noteRows, bury, removeVersions, removeRows } = eraseStatements(owner?.column);
    const value = owner === undefined ? [] : [owner.value];
    const notes = keepsHistory ? [ask(noteVersions, ids, ...value), ask(noteRows, ids, revision, ...value)] : [];
    const [versions = [], removed = [], , ...noted] = (yield [
      ...notes,
      ask(bury, ids, revision, ...value),
      ask(removeRows, ids, ...value),
      ask(removeVersions, ids, ...value),
    ]).toReversed();
    const result = { records: removed.length, versions: versions.length };
    if (removed.length + versions.length === 0) return { result };
    const counted = removed.map(toRemoved);
    const { records, total } = growthOf(sumsOf(counted, 0), false);
    const growth = { records, total: total + erasedGrowth(versions, noted.flat().length) };
    return { result, effect: { counted, growth, versions: -versions.length } };
  },
});

/**
 * Erases the rows with the ids `$2`, and all their versions; of an owner, only what has its value,
 * and versions of these ids from before they had any. `note` and `bury` get the revision.
 */
function eraseStatements(column: RecordOwner['column'] | undefined) {
  const chosen = 'tenant_id = $1 and id = any($2::text[])';
  const rows = (owner: '$3' | '$4') =>
    column === undefined ? chosen : (`${chosen} and ${column} = ${owner}` as const);
  const versions = column === undefined ? chosen : (`${chosen} and coalesce(${column}, $3) = $3` as const);
  const note = 'insert into subscription_erasure (tenant_id, id, from_revision, until_revision) select tenant_id, id,';
  const once = 'on conflict (tenant_id, id, until_revision) do nothing returning id';
  return {
    noteVersions: `${note} from_revision, until_revision from subscription_version where ${versions} ${once}`,
    noteRows: `${note} revision, cast($3 as bigint) from subscription where ${rows('$4')} ${once}`,
    bury: `insert into subscription_tombstone (tenant_id, id, revision)
      select tenant_id, id, cast($3 as bigint) from subscription where ${rows('$4')}
      on conflict (tenant_id, id) do update set revision = excluded.revision`,
    removeVersions: `delete from subscription_version where ${versions} returning ${dataBytes()} as bytes`,
    removeRows: `delete from subscription where ${rows('$3')} returning ${countedColumns}, ${dataBytes()} as bytes`,
  } satisfies Record<string, TenantSql>;
}
