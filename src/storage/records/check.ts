import type { Row, TenantReader } from '../store.ts';
import { readHistory } from '../tables/history.ts';
import { recordColumns, unlikeColumns } from './record-columns.ts';

/** What a check of one tenant's records found. */
interface RecordsCheck {
  /** Sentences, one for each record or tombstone at fault; at most `problemsMax`. */
  readonly problems: readonly string[];
}

/** Problems that are looked for at most. */
const problemsMax = 1_000;

/** Rows of one statement. */
export const checkedRows = 1_000;

/**
 * Compares the text of each record of a tenant with the columns beside it, and its revisions and
 * tombstones with each other: no revision is above the tenant's, and no record that is there has a
 * tombstone.
 */
export async function checkRecords(reader: TenantReader): Promise<RecordsCheck> {
  const { revision, sweptRevision } = await readHistory(reader);
  const problems: string[] = [];
  if (sweptRevision > revision)
    problems.push(`Tombstones are swept up to ${sweptRevision}, the tenant is at ${revision}`);
  for (const { id } of await reader.all(selectBuried, [problemsMax]))
    problems.push(`Record '${id}' has a tombstone, although it is there`);
  for (const [kind, sql] of [
    ['Record', recordsAhead],
    ['Tombstone', tombstonesAhead],
  ] as const)
    for (const { id, revision: ahead } of await reader.all(sql, [revision, problemsMax]))
      problems.push(`${kind} '${id}' is of revision ${ahead}, the tenant is at ${revision}`);
  for (let from = ''; problems.length < problemsMax; ) {
    const rows = await reader.all(selectRecords, [from, checkedRows]);
    problems.push(...rows.flatMap(problemOf));
    if (rows.length < checkedRows) break;
    from = String(rows.at(-1)?.id);
  }
  return { problems: problems.slice(0, problemsMax) };
}

function problemOf(row: Row): string[] {
  const unlike = unlikeColumns(row);
  if (unlike === undefined) return [`The text of record '${row.id}' is no whole record`];
  return unlike.length === 0 ? [] : [`Record '${row.id}' differs from its columns in ${unlike.join(', ')}`];
}

/** The records behind an id with what is compared, in the order of their ids. */
export const selectRecords = `select ${recordColumns.join(', ')}, record from subscription
  where tenant_id = $1 and id > $2 order by id limit $3` as const;

const selectBuried = `select id from subscription_tombstone as t where tenant_id = $1
  and exists (select 1 from subscription as s where s.tenant_id = t.tenant_id and s.id = t.id) order by id limit $2`;

const recordsAhead =
  'select id, revision from subscription where tenant_id = $1 and revision > $2 order by revision, id limit $3';

const tombstonesAhead =
  'select id, revision from subscription_tombstone where tenant_id = $1 and revision > $2 order by revision, id limit $3';
