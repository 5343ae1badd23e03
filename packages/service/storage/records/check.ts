import type { Row, SqlValue, Store, TenantReader, TenantSql } from '../store.ts';
import { rowColumns } from '../subscription-row.ts';
import { readHistory } from '../tables/history.ts';
import { countUse, useColumns, useOf } from '../tables/storage-use.ts';

/** The columns that repeat a field of the record. */
const repeated = rowColumns.flatMap(({ name, type, path, isOptional = false }) =>
  path === undefined ? [] : [{ name, type, path, isOptional }],
);

/** Their names, the id first. */
export const recordColumns: readonly string[] = repeated.map(({ name }) => name);

/** The column values that a record's JSON requires; `undefined` if it is not a complete record. */
export function columnsOfRecord(text: string): readonly SqlValue[] | undefined {
  try {
    const record = JSON.parse(text);
    const values = repeated.map(({ type, path, isOptional }) => {
      const value = path.split('.').reduce((of, name) => of?.[name], record) ?? (isOptional ? null : undefined);
      return type === 'bigint' ? secondsOf(value) : value;
    });
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

/** Maximum rows read by one statement of a repair. */
export const checkedRows = 1_000;

/** Maximum rows that one statement checks. */
const comparedRows = 20_000;

/**
 * Compares each record's JSON with the columns that repeat its fields, and the revisions with the
 * tombstones: no revision exceeds the tenant's, and no stored record has a tombstone. Also checks
 * the former versions and their number. `onRows` receives the number of records that are compared.
 * Every engine can run the statements of `postgres`.
 */
export async function checkRecords(
  reader: TenantReader,
  engine: Store['engine'] = 'postgres',
  onRows: (checked: number) => void = () => undefined,
): Promise<RecordsCheck> {
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
  problems.push(...(await wrongBytes(reader)));
  const select = suspects[engine];
  for (let [from, checked] = ['', 0]; problems.length < problemsMax; ) {
    const [step] = await reader.all(selectStep, [from, comparedRows]);
    if (step === undefined || step.last === null) break;
    const rows = await reader.all(select, [from, String(step.last)]);
    problems.push(...rows.flatMap(problemOf));
    from = String(step.last);
    checked += Number(step.n);
    onRows(checked);
  }
  return { problems: problems.slice(0, problemsMax) };
}

/** The last of the next records, in the order of their ids, and how many they are. */
const selectStep = `select max(id) as last, count(*) as n from (
    select id from subscription where tenant_id = $1 and id > $2 order by id limit $3
  ) as step` as const;

const selectBetween = `select ${recordColumns.join(', ')}, record from subscription
  where tenant_id = $1 and id > $2 and id <= $3` as const;

/**
 * The records to look at. SQLite leaves those out that are equal in the format that we write, which
 * takes a third of the time of reading them all; of the others, `differingColumns` decides.
 */
const suspects: Readonly<Record<Store['engine'], TenantSql>> = {
  postgres: `${selectBetween} order by id`,
  sqlite: `${selectBetween} and not coalesce(case when json_valid(record) then
      json_extract(record, ${repeated.map(({ path }) => `'$.${path}'`).join(', ')})
        = json_array(${repeated.map(({ name, type }) => (type === 'bigint' ? `strftime('%Y-%m-%dT%H:%M:%SZ', ${name}, 'unixepoch')` : name)).join(', ')})
    end, false) order by id`,
};

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
      when exists (select 1 from subscription_version as n where n.tenant_id = $1 and n.id = v.id
        and n.until_revision > v.until_revision and n.from_revision < v.until_revision) then 'overlaps the next one'
      when exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = v.id
        and s.revision < v.until_revision) then 'overlaps the record'
      when exists (select 1 from subscription_tombstone as b where b.tenant_id = $1 and b.id = v.id
        and b.revision < v.until_revision) then 'is younger than its tombstone'
      end as problem
    from subscription_version as v join tenant as t on t.id = $1
    where v.tenant_id = $1 and v.until_revision > t.history_from
  ) as checked where problem is not null order by id limit $2`;

const wrongVersionCount = `select counted, n from (
    select id as tenant_id, history_rows as counted,
      (select count(*) from subscription_version as v where v.tenant_id = $1) as n from tenant
  ) as t where tenant_id = $1 and counted <> n` as const;

/** Compares the charge of the tenant with its rows, if the charge is stored. */
async function wrongBytes(reader: TenantReader): Promise<readonly string[]> {
  const [tenant] = await reader.all(selectUse);
  const charged = tenant === undefined ? undefined : useOf(tenant);
  if (charged === undefined) return [];
  const [counted] = await reader.all(countUse);
  const kinds = ['records', 'history', 'tombstones', 'rejections'] as const;
  return kinds.flatMap((kind) =>
    charged[kind] === Number(counted?.[kind])
      ? []
      : [`The tenant is charged ${charged[kind]} bytes of ${kind}, ${counted?.[kind]} are there`],
  );
}

const selectUse = `select * from (
    select id as tenant_id, revision, ${useColumns} from tenant
  ) as t where tenant_id = $1` as const;

const selectLiveTombstones = `select id from subscription_tombstone as t where tenant_id = $1
  and exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = t.id) order by id limit $2`;

const recordsAhead =
  'select id, revision from subscription where tenant_id = $1 and revision > $2 order by revision, id limit $3';

const tombstonesAhead =
  'select id, revision from subscription_tombstone where tenant_id = $1 and revision > $2 order by revision, id limit $3';
