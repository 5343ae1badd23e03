import type { Row, SqlValue, Store, TenantReader, TenantSql } from '../store.ts';
import { rowColumns } from '../subscription-row.ts';
import { countCharge } from '../tables/storage-use.ts';
import { checkHistory, keptVersions } from './check-history.ts';

/** The columns that repeat a field of the record, the id first. */
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

/** Most sentences about a tenant's records, one for each problem. */
const problemsMax = 1_000;

/** Maximum ids of one statement. */
const checkedRows = 20_000;

/**
 * Compares the JSON of each record and each former version with the columns that repeat its fields,
 * and the sums of the tenant with its rows, and checks its history. Every engine can run the
 * statements of `postgres`.
 */
export async function checkRecords(reader: TenantReader, engine: Store['engine'] = 'postgres') {
  const problems = [...(await checkHistory(reader)), ...(await checkSums(reader))];
  for (const [what, rows] of texts)
    for (let from = ''; problems.length < problemsMax; ) {
      const [last] = await reader.all(selectLast(rows), [from, checkedRows]);
      if (last === undefined || last.id === null) break;
      const suspects = await reader.all(selectSuspects(rows, engine), [from, String(last.id)]);
      problems.push(...suspects.flatMap((row) => problemOf(row, what)));
      from = String(last.id);
    }
  return { problems: problems.slice(0, problemsMax) };
}

const texts = [
  ['Record', 'subscription where tenant_id = $1'],
  ['A former version of record', keptVersions],
] as const;

/** The last of the next ids. */
const selectLast = (rows: string) =>
  `select max(id) as id from (select id from ${rows} and id > $2 order by id limit $3) as step` as TenantSql;

const selectSuspects = (rows: string, engine: Store['engine']) =>
  `select ${recordColumns.join(', ')}, record from ${rows} and id > $2 and id <= $3${isSuspect[engine]} order by id` as TenantSql;

/**
 * SQLite leaves out the rows that are equal in the format that we write, which takes a third of the
 * time of reading them all; of the others, `differingColumns` decides.
 */
const isSuspect: Readonly<Record<Store['engine'], string>> = {
  postgres: '',
  sqlite: ` and not coalesce(case when json_valid(record) then
      json_extract(record, ${repeated.map(({ path }) => `'$.${path}'`).join(', ')})
        = json_array(${repeated.map(({ name, type }) => (type === 'bigint' ? `strftime('%Y-%m-%dT%H:%M:%SZ', ${name}, 'unixepoch')` : name)).join(', ')})
    end, false)`,
};

function problemOf(row: Row, what: string): string[] {
  const differing = differingColumns(row);
  if (differing === undefined) return [`The text of ${what.toLowerCase()} '${row.id}' is no whole record`];
  return differing.length === 0 ? [] : [`${what} '${row.id}' differs from its columns in ${differing.join(', ')}`];
}

/** Compares the number of former versions and the charge of the tenant with its rows. */
async function checkSums(reader: TenantReader): Promise<readonly string[]> {
  const versions = await reader.all(countVersions);
  const charges = await reader.all(countCharge);
  return [
    ...versions
      .filter(isWrong)
      .map(({ charged, counted }) => `The history counts ${charged} former versions, ${counted} are there`),
    ...charges
      .filter(isWrong)
      .map(({ charged, counted }) => `The tenant is charged ${charged} bytes, ${counted} are there`),
  ];
}

const isWrong = ({ charged, counted }: Row): boolean => Number(charged) !== Number(counted);

const countVersions = `select history_rows as charged,
    (select count(*) from subscription_version as v where v.tenant_id = $1) as counted
  from (select id as tenant_id, history_rows from tenant) as t where tenant_id = $1` as const;
