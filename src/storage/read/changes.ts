import type { Row, TenantReader, TenantSql } from '../store.ts';

/**
 * Position in the order of a tenant's changes: the revision of the change, then the record's id.
 */
export interface ChangeKey {
  readonly revision: number;
  readonly id: string;
}

/** The last change of one record. */
export interface SubscriptionChange extends ChangeKey {
  /** Its JSON text, or `undefined` if it was removed. */
  readonly record: string | undefined;
}

/**
 * Reads up to `limit` changes after a key, in order. Each record appears once, at its last change,
 * so a client that applies all changes in order has exactly the existing records. Costs the same
 * after every key: at most `limit` records and `limit` tombstones are read.
 */
export async function readChanges(
  reader: TenantReader,
  { revision, id }: ChangeKey,
  limit: number,
): Promise<readonly SubscriptionChange[]> {
  const [live, removed] = await Promise.all([
    reader.all(recordsAfter, [revision, id, limit]),
    reader.all(tombstonesAfter, [revision, id, limit]),
  ]);
  return [...live, ...removed].map(toChange).sort(compareChangeKeys).slice(0, limit);
}

/**
 * Two statements, merged in the process. With `union all`, PostgreSQL sorts everything after the
 * key; with a limit on each side, SQLite sorts once more: 1.9 ms for 1,000 records instead of 1.0
 * ms.
 */
const recordsAfter =
  'select revision, id, record from subscription where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4';

const tombstonesAfter =
  'select revision, id from subscription_tombstone where tenant_id = $1 and (revision, id) > ($2, $3) order by revision, id limit $4';

function toChange({ revision, id, record }: Row): SubscriptionChange {
  return { revision: Number(revision), id: String(id), record: record === undefined ? undefined : String(record) };
}

/** Compares as both engines do: ids are ASCII, so UTF-16 and UTF-8 order them alike. */
const compareChangeKeys = (a: ChangeKey, b: ChangeKey): number => a.revision - b.revision || (a.id < b.id ? -1 : 1);

/** A change, and what the record was at an earlier revision. */
export interface DescribedChange extends SubscriptionChange {
  /** Its JSON text then, or `undefined` if there was none, or if it has been erased. */
  readonly before: string | undefined;
  /** Whether it is known not to have been there then. */
  readonly wasAbsent: boolean;
  /** When the change was committed, in UTC epoch seconds, if that is kept. */
  readonly committedSeconds: number | undefined;
  /** The import that made it, if one did and that is kept. */
  readonly importId: string | undefined;
}

/**
 * Reads changes as `readChanges` does, with what each record was at the revision `base`, of which
 * the versions are kept. A negative one is before all records.
 */
export async function readDescribedChanges(
  reader: TenantReader,
  { revision, id }: ChangeKey,
  base: number,
  limit: number,
): Promise<readonly DescribedChange[]> {
  const [live, removed] = await Promise.all(
    [describedRecords, describedTombstones].map((sql) => reader.all(sql, [revision, id, limit, base])),
  );
  return [...(live ?? []), ...(removed ?? [])].map(toDescribedChange).sort(compareChangeKeys).slice(0, limit);
}

/**
 * With the version that was current at `$5`, and the first one that ended after it, unless that of
 * then may have been erased. Citus asks one shard only if each table is bound to the tenant itself.
 */
const describedBy = `c.committed_at, c.import_id, v.record as before, (
    select min(n.until_revision) from subscription_version as n
    where n.tenant_id = $1 and n.id = s.id and n.until_revision > $5 and not exists (
      select 1 from subscription_erasure as e
      where e.tenant_id = $1 and e.from_revision <= $5 and e.until_revision > $5
    )
  ) as known`;

const described = `as s
  left join subscription_commit as c on c.tenant_id = $1 and c.revision = s.revision
  left join subscription_version as v on v.tenant_id = $1 and v.id = s.id and v.until_revision > $5 and v.from_revision <= $5
  where s.tenant_id = $1 and (s.revision, s.id) > ($2, $3) order by s.revision, s.id limit $4`;

const describedRecords =
  `select s.revision, s.id, s.record, ${describedBy} from subscription ${described}` as TenantSql;

const describedTombstones =
  `select s.revision, s.id, ${describedBy} from subscription_tombstone ${described}` as TenantSql;

function toDescribedChange(row: Row): DescribedChange {
  const { before = null, known = null, committed_at: at = null, import_id: importId = null } = row;
  return {
    ...toChange(row),
    before: before === null ? undefined : String(before),
    wasAbsent: before === null && known !== null,
    committedSeconds: at === null ? undefined : Number(at),
    importId: importId === null ? undefined : String(importId),
  };
}
