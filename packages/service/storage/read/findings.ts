import type { Row, SqlValue, Store, TenantReader, TenantSql } from '../store.ts';

// Finds contradictions in a tenant's records by reading all of them. On SQLite, `revision >= 0`
// leads along the index of revisions, in which records lie as they do in the file: a pass over
// 1 M records takes a fifth of the time of one along the index of ICCIDs
// (docs/decisions/changes.md#findings).

/** Maximum examples of a kind, and maximum records of an example. */
const examplesMax = 10;

/** The records, ICCIDs, devices or products of one kind. */
export interface Finding {
  readonly kind: FindingKind;
  readonly count: number;
  /** The revision, or for `active-past-end` the UTC epoch second, since which there is one. */
  readonly since: number | undefined;
  readonly examples: readonly FoundExample[];
}

interface FoundExample {
  readonly iccid?: string;
  readonly device_id?: string;
  readonly product_id?: string;
  readonly ids: readonly string[];
}

/** The JSON around the value of a field in the text of a record. */
interface TextAround {
  readonly before: string;
  /** What can follow it: of these, the first one that the record has. */
  readonly after: readonly string[];
}

const all = 'subscription where tenant_id = $1 and revision >= 0';

/**
 * Findings about single records: the condition, and the column whose minimum is returned; `$2` is
 * the moment.
 */
const recordKinds = ({ before, after }: TextAround) =>
  ({
    'no-status': ['status is null', 'revision'],
    'no-email': ['email is null', 'revision'],
    'created-after-activation': ['created_date > activation_date', 'revision'],
    'ends-before-activation': ['expiration_date < activation_date', 'revision'],
    'active-past-end': ["status = 'ACTIVE' and expiration_date < $2", 'expiration_date'],
    'period-zero': [
      `(${[...new Set(after.map(([first]) => first))].map((end) => `record like '%${before}0${end}%'`).join(' or ')})`,
      'revision',
    ],
  }) as const;

/**
 * Findings about several records sharing one value: the column they share, and the condition.
 */
const sharedKinds = {
  'iccid-active-twice': ['iccid', 'count(*) > 1'],
  'device-on-two-sims': ['device_id', 'min(iccid) <> max(iccid)'],
} as const;

/** A kind of finding, as in the contract. */
type FindingKind =
  | keyof ReturnType<typeof recordKinds>
  | keyof typeof sharedKinds
  | 'product-with-two-names'
  | 'iccid-rounded'
  | 'iccid-check-digit'
  | 'iccid-lengths';

/**
 * Finds everything, at a moment in UTC epoch seconds. One statement at a time, all of one shard.
 */
export async function readFindings(
  reader: TenantReader,
  engine: Store['engine'],
  nowSeconds: number,
  { productName, productPeriod }: { readonly productName: TextAround; readonly productPeriod: TextAround },
): Promise<readonly Finding[]> {
  const found: Finding[] = await findRecords(reader, nowSeconds, productPeriod);
  for (const [kind, [column, having]] of entriesOf(sharedKinds))
    found.push(await findShared(reader, kind, column, having));
  found.push(await findProducts(reader, sqlOfText[engine](productName)), ...(await findIccids(reader)));
  return found;
}

const entriesOf = <K extends string, V>(record: Readonly<Record<K, V>>) => Object.entries(record) as [K, V][];

async function findRecords(reader: TenantReader, nowSeconds: number, period: TextAround): Promise<Finding[]> {
  const kinds = entriesOf(recordKinds(period));
  const columns = kinds.map(
    ([, [condition, since]], at) =>
      `count(case when ${condition} then 1 end) as n${at}, min(case when ${condition} then ${since} end) as since${at}`,
  );
  const [counted] = await reader.all(`select ${columns.join(', ')} from ${all}` as TenantSql, [nowSeconds]);
  const found: Finding[] = [];
  for (const [at, [kind, [condition]]] of kinds.entries()) {
    const count = Number(counted?.[`n${at}`] ?? 0);
    const rows = count === 0 ? [] : await readNewest(reader, condition, nowSeconds);
    const examples = rows.map(({ id }) => ({ ids: [String(id)] }));
    found.push({ kind, count, since: numberIn(counted?.[`since${at}`]), examples });
  }
  return found;
}

/**
 * The newest records with a condition, along the index of creation dates, which has most columns.
 */
function readNewest(reader: TenantReader, condition: string, nowSeconds: number): Promise<readonly Row[]> {
  const sql = `select id from subscription where tenant_id = $1 and ${condition}
    order by created_date desc, id desc limit ${examplesMax}`;
  return reader.all(sql as TenantSql, condition.includes('$2') ? [nowSeconds] : []);
}

/** ACTIVE records of one value; `|| ''` keeps SQLite from the index of the value. */
async function findShared(
  reader: TenantReader,
  kind: FindingKind,
  column: 'iccid' | 'device_id',
  having: string,
): Promise<Finding> {
  const rows = await reader.all(
    `select value, since, count(*) over () as n, min(since) over () as first from (
       select ${column} || '' as value, max(revision) as since from ${all} and status = 'ACTIVE' and ${column} <> ''
       group by ${column} || '' having ${having}
     ) as shared order by value limit ${examplesMax}` as TenantSql,
  );
  const examples: FoundExample[] = [];
  for (const { value } of rows) {
    const ids = await reader.all(
      `select id from subscription where tenant_id = $1 and ${column} = $2 and status = 'ACTIVE'
       order by id limit ${examplesMax}` as TenantSql,
      [value ?? null],
    );
    examples.push({ [column]: String(value), ids: ids.map(({ id }) => String(id)) });
  }
  return { kind, ...countedIn(rows), examples };
}

/**
 * Products with two names. Their ids are found first, as there are seldom any: `distinct` needs a
 * third of the time of the minimum and maximum of each product on SQLite.
 */
async function findProducts(reader: TenantReader, { text, isThere }: TextSql): Promise<Finding> {
  const named = `${all} and ${isThere}`;
  const products = `select product_id from (select distinct product_id, ${text} as name from ${named}) as named
    group by product_id having count(*) > 1`;
  const kind = 'product-with-two-names';
  const [any] = await reader.all(`${products} limit 1` as TenantSql);
  if (any === undefined) return { kind, count: 0, since: undefined, examples: [] };
  const rows = await reader.all(
    `select value, since, count(*) over () as n, min(since) over () as first from (
       select product_id as value, max(since) as since from (
         select product_id, min(revision) as since from ${named} and product_id in (${products})
         group by product_id, ${text}
       ) as name group by product_id
     ) as shared order by value limit ${examplesMax}` as TenantSql,
  );
  const examples: FoundExample[] = [];
  for (const { value } of rows) {
    const ids = await reader.all(
      `select min(id) as id from subscription where tenant_id = $1 and product_id = $2 and ${isThere}
       group by ${text} order by 1 limit ${examplesMax}` as TenantSql,
      [value ?? null],
    );
    examples.push({ product_id: String(value), ids: ids.map(({ id }) => String(id)) });
  }
  return { kind, ...countedIn(rows), examples };
}

/** Whether an ICCID is as a spreadsheet leaves a number of more than 15 digits. */
const isRounded = `(length(iccid) > 18 and rtrim(substr(iccid, 16), '0') = '')`;
/** Fewer rounded ICCIDs are not reported. */
const roundedMin = 5;
/** They must be at least 1 in 1,000 records: 1 in 10,000 serial numbers ends in 0000 by chance. */
const recordsPerRounded = 1_000;

/** Fewer ICCIDs of rare lengths are not reported. */
const oddLengthsMin = 5;
/** A length is rare if at most 1 in 20 records has it. */
const recordsPerOddLength = 20;

/** An ICCID as two numbers, its last 18 digits and those before, which integers can hold. */
const halves = `cast(substr('0000000' || iccid, length(iccid) - 10) as bigint) as low,
  cast(substr('0000000' || iccid, length(iccid) - 14, 4) as bigint) as high`;

/** The sum of the digits of a number, every second one from the right doubled (ITU-T E.118). */
const luhnSum = (number: string, digits: number): string =>
  Array.from({ length: digits }, (_, at) => {
    const digit = `${number} / 1${'0'.repeat(at)} % 10`;
    // one more from 5 on: the sum of the two digits of 10 to 18, but for tens
    return at % 2 === 0 ? digit : `${digit} * 11 / 5`;
  }).join(' + ');

const isMisfit = `(rounded = 0 and (${luhnSum('low', 18)} + ${luhnSum('high', 4)}) % 10 <> 0)`;

/**
 * Each ICCID, with columns for the conditions. The limit keeps the planners from computing a column
 * again wherever it is read, which takes four times as long.
 */
const eachIccid = (columns: string, from: string): string => `(
  select ${columns} length(iccid) as length, ${halves}, case when ${isRounded} then 1 else 0 end as rounded
  from ${from} limit ${Number.MAX_SAFE_INTEGER}) as each_iccid`;

/** ICCIDs that a spreadsheet rounded, that do not fit their check digit, and of rare lengths. */
async function findIccids(reader: TenantReader): Promise<Finding[]> {
  // without revisions, the index of ICCIDs has all that is read
  const rows = await reader.all(
    `select length, count(*) as n, sum(rounded) as rounded, count(case when ${isMisfit} then 1 end) as misfits
     from ${eachIccid('', 'subscription where tenant_id = $1')} group by length` as TenantSql,
  );
  const numbers = rows.map((row) => ({
    ...{ length: Number(row.length), n: Number(row.n), rounded: Number(row.rounded), misfits: Number(row.misfits) },
  }));
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const total = sum(numbers.map(({ n }) => n));
  const rounded = sum(numbers.map((each) => each.rounded));
  const isMany = rounded >= roundedMin && rounded * recordsPerRounded >= total;
  // where most do not fit, the source has no check digits
  const checked = numbers.filter((each) => each.misfits > 0 && each.n - each.rounded > 2 * each.misfits);
  const odd = numbers.filter(({ n }) => n * recordsPerOddLength <= total);
  const isOften = sum(odd.map(({ n }) => n)) >= oddLengthsMin;
  return [
    await findByIccid(reader, 'iccid-rounded', isMany ? 'rounded = 1' : undefined),
    await findByIccid(reader, 'iccid-check-digit', ofLengths(checked, ` and ${isMisfit}`)),
    await findByIccid(reader, 'iccid-lengths', isOften ? ofLengths(odd) : undefined),
  ];
}

/** The condition that an ICCID has one of these lengths, and another condition. */
const ofLengths = (numbers: readonly { readonly length: number }[], and = ''): string | undefined =>
  numbers.length === 0 ? undefined : `length in (${numbers.map(({ length }) => length).join(', ')})${and}`;

/** The records whose ICCID has a condition; none without a condition. */
async function findByIccid(reader: TenantReader, kind: FindingKind, condition: string | undefined): Promise<Finding> {
  if (condition === undefined) return { kind, count: 0, since: undefined, examples: [] };
  const rows = await reader.all(
    `select id, count(*) over () as n, min(revision) over () as first
     from ${eachIccid('id, created_date, revision,', all)} where ${condition}
     order by created_date desc, id desc limit ${examplesMax}` as TenantSql,
  );
  return { kind, ...countedIn(rows), examples: rows.map(({ id }) => ({ ids: [String(id)] })) };
}

/** SQL of the JSON of a value in the text of a record, and of whether the record has it. */
interface TextSql {
  readonly text: string;
  readonly isThere: string;
}

/** Three to four times as fast as the functions for JSON. */
const sqlOfText: Readonly<Record<Store['engine'], (around: TextAround) => TextSql>> = {
  sqlite({ before, after }) {
    const start = `instr(record, '${before}')`;
    const end = `coalesce(${after.map((text) => `nullif(instr(record, '${text}'), 0)`).join(', ')})`;
    return { text: `substr(record, ${start}, ${end} - ${start})`, isThere: `${start} > 0` };
  },
  postgres: ({ before, after }) => ({
    text: after.reduce((text, end) => `split_part(${text}, '${end}', 1)`, `split_part(record, '${before}', 2)`),
    isThere: `strpos(record, '${before}') > 0`,
  }),
};

const countedIn = ([row]: readonly Row[]) => ({ count: Number(row?.n ?? 0), since: numberIn(row?.first) });

const numberIn = (value: SqlValue | undefined): number | undefined =>
  value === null || value === undefined ? undefined : Number(value);

/** When a revision was committed, in UTC epoch seconds, if that is kept. */
export async function readCommitted(reader: TenantReader, revision: number): Promise<number | undefined> {
  const [row] = await reader.all(
    'select committed_at from subscription_commit where tenant_id = $1 and revision = $2',
    [revision],
  );
  return numberIn(row?.committed_at);
}
