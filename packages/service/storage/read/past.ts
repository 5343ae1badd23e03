import { dayNumber } from '../calendar.ts';
import type { LineBatch, Row, SqlValue, TenantReader, TenantSnapshot, TenantSql } from '../store.ts';
import { and, type Bind, binder, filterConditions, type SubscriptionFilter } from '../subscription-filter.ts';
import type { SubscriptionOrder } from './page-sql.ts';
import { countMatching, streamRecords } from './records.ts';
import { readProductNames, type SummaryCounts, type SummaryPlan, summarise } from './summary.ts';

// Reads a tenant's records as they were at a revision: the records that have not changed since, and
// the versions that were current then (docs/decisions/changes.md#history).

/** A revision, or a time in UTC epoch seconds. */
export type Moment = { readonly revision: number } | { readonly seconds: number };

declare const settledBrand: unique symbol;

/** A moment whose answer is final: only `settle` makes one of a time. */
export type SettledMoment = Moment & { readonly [settledBrand]: true };

/** A tenant's history, as `readHistory` returns it. */
interface History {
  readonly revision: number;
  readonly kept?: { readonly from: number; readonly fromSeconds: number; readonly lastSeconds: number };
}

/** A revision of the past, or the present one. */
export interface PastRevision {
  readonly revision: number;
  /** The tenant's revision in the reader's snapshot. */
  readonly current: number;
}

/**
 * Finds the revision that was current at a moment: for a time, the last one that was committed
 * before it. A time of commit is a whole second, so what was committed within the second of the
 * time is not part of it, whether the commit came before the question or after. Returns `undefined`
 * if it is not kept, or if the tenant has not reached it. The present revision can always be read,
 * also without a history.
 */
export async function findRevision(
  reader: TenantReader,
  { revision: current, kept }: History,
  moment: SettledMoment,
): Promise<PastRevision | undefined> {
  if ('revision' in moment) {
    const { revision } = moment;
    const isKept = revision === current || (kept !== undefined && revision >= kept.from);
    return isKept && revision <= current ? { revision, current } : undefined;
  }
  // a history that began again since the time was settled does not reach it
  if (kept === undefined || moment.seconds < kept.fromSeconds || moment.seconds > kept.lastSeconds) return undefined;
  const [row] = await reader.all(selectRevisionAt, [moment.seconds, kept.from]);
  return { revision: row === undefined ? kept.from : Number(row.revision), current };
}

const selectRevisionAt = `select revision from subscription_commit
  where tenant_id = $1 and committed_at < $2 and revision >= $3 order by committed_at desc, revision desc limit 1`;

/** Streams the JSON of a filter's records at a revision, in an order. */
export function streamPast(
  snapshot: TenantSnapshot,
  filter: SubscriptionFilter,
  order: SubscriptionOrder,
  past: PastRevision,
  batchRows: number,
): AsyncIterable<LineBatch> {
  if (past.revision === past.current) return streamRecords(snapshot, filter, order, batchRows);
  const values: SqlValue[] = [];
  const { column, descending } = order;
  const direction = descending ? 'desc' : 'asc';
  const sql = `select record from (${pastRows(filter, `${column}, id, record`, past, binder(values))}) as past
    order by ${column} ${direction}, id ${direction}` as TenantSql;
  return snapshot.streamLines(sql, values, batchRows);
}

/** The records that have not changed since a revision, and the versions that were current then. */
export function pastRows(
  filter: SubscriptionFilter,
  columns: string,
  { revision, current }: PastRevision,
  bind: Bind,
): string {
  if (revision === current)
    return `select ${columns} from subscription where tenant_id = $1${and(filterConditions(filter, bind))}`;
  const at = bind(revision);
  const conditions = and(filterConditions(filter, bind));
  return `select ${columns} from subscription where tenant_id = $1 and revision <= ${at}${conditions}
    union all
    select ${columns} from ${versionsAt(at)}${conditions}`;
}

const versionsAt = (revision: string): string =>
  `subscription_version where tenant_id = $1 and until_revision > ${revision} and from_revision <= ${revision}`;

/**
 * Counts the records of a filter at a revision: those of today, without the records that have
 * changed since, and with the versions that were current then. So only changes are read.
 */
export async function countPast(reader: TenantReader, filter: SubscriptionFilter, past: PastRevision): Promise<number> {
  const [now, { total }] = await Promise.all([
    countMatching(reader, filter),
    countDifferences(reader, { filter, columns: [] }, past),
  ]);
  return now + total;
}

/** Counts the records of a filter by dimensions at a revision, in the same way. */
export async function summarisePast(
  reader: TenantReader,
  plan: SummaryPlan,
  past: PastRevision,
): Promise<SummaryCounts> {
  const now = await summarise(reader, plan);
  if (past.revision === past.current) return now;
  const { total, dimensions } = await countDifferences(reader, plan, past);
  const columns = new Map(
    [...now.columns].map(([column, counts]) => [column, adjusted(counts, dimensions.get(column))]),
  );
  const products = [...(columns.get('product_id')?.keys() ?? [])].map(String);
  return {
    total: now.total + total,
    columns,
    buckets: adjusted(now.buckets, dimensions.get('day')),
    productNames: await readProductNames(reader, products, past.revision),
  };
}

type Counts = ReadonlyMap<SqlValue, number>;

function adjusted(counts: Counts, differences: Counts = new Map()): Counts {
  const result = new Map(counts);
  for (const [value, n] of differences) result.set(value, (result.get(value) ?? 0) + n);
  return new Map([...result].filter(([, n]) => n !== 0));
}

/** The differences to the counts of today, in total and by dimension. */
async function countDifferences(
  reader: TenantReader,
  { filter, columns, bucket }: SummaryPlan,
  { revision, current }: PastRevision,
): Promise<{ readonly total: number; readonly dimensions: ReadonlyMap<string, Counts> }> {
  const dimensions = new Map<string, Map<SqlValue, number>>();
  if (revision === current) return { total: 0, dimensions };
  const groups = columns.map((column) => ({ name: column, selected: column, key: column }));
  const days = bucket && {
    ...{ name: 'day', selected: `min(${bucket.dateColumn}) as day` },
    key: dayNumber(bucket.dateColumn, bucket.offsets()),
  };
  const all: readonly Group[] = days === undefined ? groups : [...groups, days];
  let total = 0;
  for (const isVersion of [false, true])
    for (const row of await readGroups(reader, filter, all, revision, isVersion)) {
      const n = (isVersion ? 1 : -1) * Number(row.n);
      total += n;
      for (const { name } of all) {
        const value = row[name] ?? null;
        const key = name === 'day' && bucket !== undefined ? bucket.startOf(Number(value)) : value;
        const counts = dimensions.get(name) ?? new Map<SqlValue, number>();
        dimensions.set(name, counts.set(key, (counts.get(key) ?? 0) + n));
      }
    }
  return { total, dimensions };
}

/** What versions are grouped by, and the expression that is read of it under a name. */
interface Group {
  readonly name: string;
  readonly selected: string;
  readonly key: string;
}

/**
 * Counts the versions that were current at a revision, or the records that have changed since.
 * These are read in the order of their index, so that no planner reads all records in another one.
 */
function readGroups(
  reader: TenantReader,
  filter: SubscriptionFilter,
  groups: readonly Group[],
  revision: number,
  isVersion: boolean,
): Promise<readonly Row[]> {
  const values: SqlValue[] = [];
  const bind = binder(values);
  const at = bind(revision);
  const selected = [...groups.map((each) => each.selected), 'count(*) as n'].join(', ');
  const grouping = groups.length === 0 ? '' : ` group by ${groups.map(({ key }) => key).join(', ')}`;
  const conditions = and(filterConditions(filter, bind));
  const changed = `(select status, product_id, plan_id, auto_renew, created_date, activation_date, expiration_date
    from subscription where tenant_id = $1 and revision > ${at}${conditions}
    order by revision, id limit ${Number.MAX_SAFE_INTEGER}) as changed`;
  const rows = isVersion ? `${versionsAt(at)}${conditions}` : changed;
  return reader.all(`select ${selected} from ${rows}${grouping}` as TenantSql, values);
}

/** Number of records that were current at a revision and have been erased since. */
export async function countErased(reader: TenantReader, { revision, current }: PastRevision): Promise<number> {
  if (revision === current) return 0;
  const [row] = await reader.all(
    'select count(*) as n from subscription_erasure where tenant_id = $1 and from_revision <= $2 and until_revision > $2',
    [revision],
  );
  return Number(row?.n ?? 0);
}

/** The JSON text of one record at a revision, or `undefined` if there was none with this id. */
export async function readPastRecord(reader: TenantReader, id: string, revision: number): Promise<string | undefined> {
  const [row] = await reader.all(
    `select record from subscription where tenant_id = $1 and id = $2 and revision <= $3
     union all
     select record from subscription_version
     where tenant_id = $1 and id = $2 and until_revision > $3 and from_revision <= $3`,
    [id, revision],
  );
  return row === undefined ? undefined : String(row.record);
}

/** A version of one record, or its removal. */
export interface RecordVersion {
  /** The revision that made it. */
  readonly revision: number;
  /** When that was committed, in UTC epoch seconds, and by which import, if they are kept. */
  readonly committedSeconds: number | undefined;
  readonly importId: string | undefined;
  /** Its JSON text; `undefined` if the record was removed. */
  readonly record: string | undefined;
  /** Whether the versions from then on have been erased, so the record is unknown. */
  readonly isErased?: boolean;
}

/**
 * Reads the newest `limit` versions of one record that ended after the revision `from`, newest
 * first, with the removals and the erased versions between them.
 */
export async function readVersions(
  reader: TenantReader,
  id: string,
  from: number,
  limit: number,
): Promise<readonly RecordVersion[]> {
  const [present, former] = await Promise.all([
    reader.all(selectPresent, [id]),
    reader.all(selectFormer, [id, from, limit]),
  ]);
  const versions: RecordVersion[] = present.map((row) => toVersion(row));
  for (const row of former) {
    const until = Number(row.until_revision);
    if (versions.at(-1)?.revision !== until) {
      const { ended_at: at = null, ended_by: by = null, erased_until: erased = null } = row;
      const end = toVersion({ revision: until, committed_at: at, import_id: by, record: null });
      versions.push({ ...end, isErased: erased !== null });
    }
    versions.push(toVersion(row));
  }
  return versions.slice(0, limit);
}

function toVersion({
  revision,
  committed_at: at = null,
  import_id: importId = null,
  record = null,
}: Row): RecordVersion {
  return {
    revision: Number(revision),
    committedSeconds: at === null ? undefined : Number(at),
    importId: importId === null ? undefined : String(importId),
    record: record === null ? undefined : String(record),
  };
}

/** The record or its tombstone. */
const selectPresent = `select s.revision, s.record, c.committed_at, c.import_id
  from (
    select tenant_id, revision, record from subscription where tenant_id = $1 and id = $2
    union all
    select tenant_id, revision, null from subscription_tombstone where tenant_id = $1 and id = $2
  ) as s left join subscription_commit as c on c.tenant_id = $1 and c.revision = s.revision
  where s.tenant_id = $1`;

const selectFormer = `select v.from_revision as revision, v.until_revision, v.record, c.committed_at, c.import_id,
    e.committed_at as ended_at, e.import_id as ended_by, g.until_revision as erased_until
  from subscription_version as v
  left join subscription_commit as c on c.tenant_id = $1 and c.revision = v.from_revision
  left join subscription_commit as e on e.tenant_id = $1 and e.revision = v.until_revision
  left join subscription_erasure as g on g.tenant_id = $1 and g.id = v.id and g.from_revision = v.until_revision
  where v.tenant_id = $1 and v.id = $2 and v.until_revision > $3 order by v.until_revision desc limit $4`;
