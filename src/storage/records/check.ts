import type { Row, SqlValue, TenantReader } from '../store.ts';
import { rowColumns } from '../subscription-row.ts';
import { readHistory } from '../tables/history.ts';

/** The columns that repeat a field of the record. */
const repeated = rowColumns.flatMap(({ name, type, inRecord }) =>
  inRecord === undefined ? [] : [{ name, type, inRecord }],
);

/** Their names, the id first. */
export const recordColumns: readonly string[] = repeated.map(({ name }) => name);

/** The column values that a record's JSON requires; `undefined` if it is not a complete record. */
export function columnsOfRecord(text: string): readonly SqlValue[] | undefined {
  try {
    const record = JSON.parse(text);
    const values = repeated.map(({ type, inRecord }) =>
      type === 'bigint' ? secondsOf(inRecord(record)) : inRecord(record),
    );
    return values.every(isStorable) ? values : undefined;
  } catch {
    return undefined; // not JSON, or not an object
  }
}

/**
 * The names of the columns that differ from the record's JSON; `undefined` if it is not a complete
 * record.
 */
export function differingColumns(row: Row): readonly string[] | undefined {
  const expected = columnsOfRecord(String(row.record));
  return expected && recordColumns.filter((name, index) => row[name] !== expected[index]);
}

const isStorable = (value: unknown): value is SqlValue =>
  value === null || typeof value === 'string' || typeof value === 'number';

function secondsOf(date: unknown): number | undefined {
  const seconds = typeof date === 'string' && date.endsWith('Z') ? Date.parse(date) / 1000 : Number.NaN;
  return Number.isInteger(seconds) ? seconds : undefined;
}

interface RecordsCheck {
  /** One sentence for each faulty record or tombstone; at most `problemsMax`. */
  readonly problems: readonly string[];
}

/** Maximum number of problems reported. */
const problemsMax = 1_000;

/** Maximum rows read by one statement. */
export const checkedRows = 1_000;

/**
 * Compares each record's JSON with the columns that repeat its fields, and the revisions with the
 * tombstones: no revision exceeds the tenant's, and no stored record has a tombstone. Also checks
 * the former versions and their number.
 */
export async function checkRecords(reader: TenantReader): Promise<RecordsCheck> {
  const { revision, sweptRevision } = await readHistory(reader);
  const problems: string[] = [];
  if (sweptRevision > revision)
    problems.push(`Tombstones are swept up to ${sweptRevision}, the tenant is at ${revision}`);
  for (const { id } of await reader.all(selectLiveTombstones, [problemsMax]))
    problems.push(`Record '${id}' has a tombstone, although it is there`);
  for (const [kind, sql] of [
    ['Record', recordsAhead],
    ['Tombstone', tombstonesAhead],
  ] as const)
    for (const { id, revision: ahead } of await reader.all(sql, [revision, problemsMax]))
      problems.push(`${kind} '${id}' is of revision ${ahead}, the tenant is at ${revision}`);
  for (const { id, problem } of await reader.all(wrongVersions, [problemsMax]))
    problems.push(`A former version of record '${id}' ${problem}`);
  for (const { counted, n } of await reader.all(wrongVersionCount))
    problems.push(`The history counts ${counted} former versions, ${n} are there`);
  for (let from = ''; problems.length < problemsMax; ) {
    const rows = await reader.all(selectRecords, [from, checkedRows]);
    problems.push(...rows.flatMap(problemOf));
    if (rows.length < checkedRows) break;
    from = String(rows.at(-1)?.id);
  }
  return { problems: problems.slice(0, problemsMax) };
}

function problemOf(row: Row): string[] {
  const differing = differingColumns(row);
  if (differing === undefined) return [`The text of record '${row.id}' is no whole record`];
  return differing.length === 0 ? [] : [`Record '${row.id}' differs from its columns in ${differing.join(', ')}`];
}

/**
 * The records with an id greater than `$2`, in the order of their ids, with the columns to compare.
 */
export const selectRecords = `select ${recordColumns.join(', ')}, record from subscription
  where tenant_id = $1 and id > $2 order by id limit $3` as const;

/**
 * Versions of the kept history that cannot be true, beside their neighbours: the next version, the
 * record and the tombstone.
 */
export const wrongVersions = `select id, problem from (
    select v.id, case
      when v.from_revision >= v.until_revision then 'ends before it begins'
      when v.until_revision > t.revision then 'ends after the last revision'
      when exists (select 1 from subscription_version as n where n.tenant_id = v.tenant_id and n.id = v.id
        and n.until_revision > v.until_revision and n.from_revision < v.until_revision) then 'overlaps the next one'
      when exists (select 1 from subscription as s where s.tenant_id = v.tenant_id and s.id = v.id
        and s.revision < v.until_revision) then 'overlaps the record'
      when exists (select 1 from subscription_tombstone as b where b.tenant_id = v.tenant_id and b.id = v.id
        and b.revision < v.until_revision) then 'is younger than its tombstone'
      end as problem
    from subscription_version as v join tenant as t on t.id = v.tenant_id
    where v.tenant_id = $1 and v.until_revision > t.history_from
  ) as checked where problem is not null order by id limit $2`;

const wrongVersionCount = `select counted, n from (
    select id as tenant_id, history_rows as counted,
      (select count(*) from subscription_version as v where v.tenant_id = tenant.id) as n from tenant
  ) as t where tenant_id = $1 and counted <> n` as const;

const selectLiveTombstones = `select id from subscription_tombstone as t where tenant_id = $1
  and exists (select 1 from subscription as s where s.tenant_id = t.tenant_id and s.id = t.id) order by id limit $2`;

const recordsAhead =
  'select id, revision from subscription where tenant_id = $1 and revision > $2 order by revision, id limit $3';

const tombstonesAhead =
  'select id, revision from subscription_tombstone where tenant_id = $1 and revision > $2 order by revision, id limit $3';
