import type { Row, SqlValue, Store, TenantReader, TenantSql } from '../store.ts';
import { rowColumns } from '../subscription-row.ts';
import { readHistory } from '../tables/history.ts';
import { countCharge } from '../tables/storage-use.ts';
import { keptVersions, missingTombstones, wrongBounds, wrongCommits, wrongVersions } from './wrong-history.ts';

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
 * Compares each record's JSON, and that of each former version, with the columns that repeat its
 * fields, and the revisions with the tombstones: no revision exceeds the tenant's, no stored record
 * has a tombstone, and each removed one that the history knows has one. Also checks the former
 * versions, their number, and the times and effects of their revisions. `onRows` receives the
 * number of records that are compared. Every engine can run the statements of `postgres`.
 */
export async function checkRecords(
  reader: TenantReader,
  engine: Store['engine'] = 'postgres',
  onRows: (checked: number) => void = () => undefined,
): Promise<RecordsCheck> {
  const problems = [...(await wrongRevisions(reader)), ...(await wrongHistory(reader)), ...(await wrongBytes(reader))];
  for (const [texts, onStep] of [
    [ofRecords, onRows],
    [ofVersions, () => undefined],
  ] as const)
    for await (const found of wrongTexts(reader, texts(engine), onStep)) {
      problems.push(...found);
      if (problems.length >= problemsMax) return { problems: problems.slice(0, problemsMax) };
    }
  return { problems };
}

/** Revisions that do not agree with the tenant's, or with each other. */
async function wrongRevisions(reader: TenantReader): Promise<string[]> {
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
  return problems;
}

async function wrongHistory(reader: TenantReader): Promise<string[]> {
  const problems: string[] = [];
  for (const { id, problem } of await reader.all(wrongVersions, [problemsMax]))
    problems.push(`A former version of record '${id}' ${problem}`);
  for (const { counted, n } of await reader.all(wrongVersionCount))
    problems.push(`The history counts ${counted} former versions, ${n} are there`);
  for (const { wanted, found, disordered } of await reader.all(wrongCommits))
    problems.push(
      Number(wanted) === Number(found)
        ? `Times of revisions that are before an earlier one, or after the last: ${disordered}`
        : `Revisions of the history that have a time: ${found}, there must be ${wanted}`,
    );
  for (const { problem } of await reader.all(wrongBounds)) problems.push(`The history ${problem}`);
  for (const { id, revision } of await reader.all(missingTombstones, [problemsMax]))
    problems.push(`Record '${id}' was removed at revision ${revision}, and has no tombstone`);
  return problems;
}

/** The texts of the records, or of their former versions. */
interface Texts {
  /** How a sentence about one begins. */
  readonly what: string;
  /** Selects the last of the next ids, and the number of texts up to it. */
  readonly step: TenantSql;
  /** Selects the rows to look at. */
  readonly select: TenantSql;
}

/** One sentence for each text that differs from its columns. */
async function* wrongTexts(
  reader: TenantReader,
  { what, step: selectStep, select }: Texts,
  onRows: (checked: number) => void,
): AsyncGenerator<readonly string[]> {
  for (let [from, checked] = ['', 0]; ; ) {
    const [step] = await reader.all(selectStep, [from, comparedRows]);
    if (step === undefined || step.last === null) return;
    const rows = await reader.all(select, [from, String(step.last)]);
    yield rows.flatMap((row) => problemOf(row, what));
    from = String(step.last);
    checked += Number(step.n);
    onRows(checked);
  }
}

/**
 * The rows to look at. SQLite leaves those out that are equal in the format that we write, which
 * takes a third of the time of reading them all; of the others, `differingColumns` decides.
 */
const suspects: Readonly<Record<Store['engine'], string>> = {
  postgres: '',
  sqlite: ` and not coalesce(case when json_valid(record) then
      json_extract(record, ${repeated.map(({ path }) => `'$.${path}'`).join(', ')})
        = json_array(${repeated.map(({ name, type }) => (type === 'bigint' ? `strftime('%Y-%m-%dT%H:%M:%SZ', ${name}, 'unixepoch')` : name)).join(', ')})
    end, false)`,
};

const textsOf =
  (what: string, rows: string) =>
  (engine: Store['engine']): Texts => ({
    what,
    step: `select max(id) as last, count(*) as n from (
      select id from ${rows} and id > $2 order by id limit $3
    ) as step` as TenantSql,
    select: `select ${recordColumns.join(', ')}, record from ${rows}
      and id > $2 and id <= $3${suspects[engine]} order by id` as TenantSql,
  });

const ofRecords = textsOf('Record', 'subscription where tenant_id = $1');
const ofVersions = textsOf('A former version of record', keptVersions);

function problemOf(row: Row, what: string): string[] {
  const differing = differingColumns(row);
  if (differing === undefined) return [`The text of ${what.toLowerCase()} '${row.id}' is no whole record`];
  return differing.length === 0 ? [] : [`${what} '${row.id}' differs from its columns in ${differing.join(', ')}`];
}

/**
 * The records with an id greater than `$2`, in the order of their ids, with the columns to compare.
 */
export const selectRecords = `select ${recordColumns.join(', ')}, record from subscription
  where tenant_id = $1 and id > $2 order by id limit $3` as const;

const wrongVersionCount = `select counted, n from (
    select id as tenant_id, history_rows as counted,
      (select count(*) from subscription_version as v where v.tenant_id = $1) as n from tenant
  ) as t where tenant_id = $1 and counted <> n` as const;

/** Compares the charge of the tenant with its rows. */
async function wrongBytes(reader: TenantReader): Promise<readonly string[]> {
  const rows = await reader.all(countCharge);
  return rows.flatMap(({ charged, counted }) =>
    Number(charged) === Number(counted) ? [] : [`The tenant is charged ${charged} bytes, ${counted} are there`],
  );
}

const selectLiveTombstones = `select id from subscription_tombstone as t where tenant_id = $1
  and exists (select 1 from subscription as s where s.tenant_id = $1 and s.id = t.id) order by id limit $2`;

const recordsAhead =
  'select id, revision from subscription where tenant_id = $1 and revision > $2 order by revision, id limit $3';

const tombstonesAhead =
  'select id, revision from subscription_tombstone where tenant_id = $1 and revision > $2 order by revision, id limit $3';
