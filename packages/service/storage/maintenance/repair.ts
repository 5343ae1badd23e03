import { recount } from '../counts/count-changes.ts';
import { ask, type CountWork } from '../counts/count-work.ts';
import { nowSeconds } from '../now-seconds.ts';
import type { Row, SqlValue, TenantSql } from '../store.ts';
import { historyStart } from '../tables/history.ts';
import { isHistoryKept } from '../tables/revision.ts';
import { aheadOf } from '../tables/settle-instant.ts';
import { countCharge } from '../tables/storage-use.ts';
import { changeProblems, keptVersions, pastProblems } from './check-history.ts';
import { columnsOfRecord, differingColumns, recordColumns } from './check-records.ts';

/** What a repair leads to. */
interface Repaired {
  /** The tenant's next revision. */
  readonly revision: number;
  /** Whether earlier revisions cannot be read any more. */
  readonly beginsHistory: boolean;
  /** By how many bytes the charge of the tenant grows, counted again. */
  readonly bytes: number;
}

/** Rows that one statement reads. */
const readRows = 1_000;

/**
 * Repairs the problems that `checkRecords` and `checkCounts` find in one tenant, in a transaction
 * that creates the next revision. Counts are rebuilt. The columns of a record are set from its
 * JSON, because clients receive the JSON; a record whose JSON is incomplete is left alone. Repaired
 * records get the next revision, so that clients that read changes receive them again.
 *
 * A new history begins if a record was repaired, a version is damaged, the history cannot be true,
 * or its commits are later than the clock. If followers of changes may hold tokens of lost
 * revisions, the revisions continue above all of them, as after a restore (`beginHistory`).
 *
 * Returns `undefined` for a tenant that is being deleted, or was: what it wrote could stay.
 */
export function* repairSubscriptions(options: { readonly nowSeconds: number }): CountWork<Repaired | undefined> {
  const [[tenant] = []] = yield [ask(selectTenant)];
  if (tenant === undefined || tenant.deletion_started_at !== null) return undefined;
  const known = Number(tenant.revision);
  const newest = Math.max(Number(tenant.swept_revision), Number(tenant.newest));
  const [hasLost, isWrong] = [yield* finds(changeProblems), yield* finds(pastProblems)];
  const isLost = newest > known || hasLost;
  const revision = 1 + (isLost ? Math.max(historyStart(options.nowSeconds), newest, known) : known);
  if (isLost) yield [ask(changeRecordsAhead, revision, known), ask(removeAllTombstones), ask(sweep, revision)];
  const isAhead = isHistoryKept(tenant) && aheadOf(Number(tenant.history_at), nowSeconds()) > 0;
  const isDamaged = yield* hasDamagedVersion();
  const isRepaired = yield* repairColumns(revision);
  yield [ask(recountVersions)];
  yield yield* recount({ isChange: false });
  const [[charge] = []] = yield [ask(countCharge)];
  const bytes = Number(charge?.counted) - Number(charge?.charged);
  return { revision, beginsHistory: isLost || isWrong || isAhead || isDamaged || isRepaired, bytes };
}

function* finds(problems: readonly TenantSql[]): CountWork<boolean> {
  return (yield problems.map((sql) => ask(sql, 1))).flat().length > 0;
}

/** Sets the columns of records from their JSON; returns whether it changed any. */
function* repairColumns(revision: number): CountWork<boolean> {
  let isRepaired = false;
  for (let from = ''; ; ) {
    const [rows = []] = yield [ask(selectRecords, from, readRows)];
    const wrong = rows.filter((row) => (differingColumns(row)?.length ?? 0) > 0);
    if (wrong.length > 0)
      yield wrong.map((row) => ask(updateColumns, String(row.id), revision, ...columnsAfterId(row)));
    isRepaired ||= wrong.length > 0;
    if (rows.length < readRows) return isRepaired;
    from = String(rows.at(-1)?.id);
  }
}

function* hasDamagedVersion(): CountWork<boolean> {
  for (let [id, until] = ['', 0]; ; ) {
    const [rows = []] = yield [ask(selectVersions, id, until, readRows)];
    if (rows.some((row) => differingColumns(row)?.length !== 0)) return true;
    if (rows.length < readRows) return false;
    [id, until] = [String(rows.at(-1)?.id), Number(rows.at(-1)?.until_revision)];
  }
}

/** Without the id, which is the row's key. */
const columnsAfterId = (row: Row): readonly SqlValue[] => columnsOfRecord(String(row.record))?.slice(1) ?? [];

/** `newest` is the highest revision of a record, a tombstone or a version. */
const selectTenant: TenantSql = `select t.*, (
    select max(revision) from (
      select max(revision) as revision from subscription where tenant_id = $1
      union all select max(revision) from subscription_tombstone where tenant_id = $1
      union all select max(until_revision) from subscription_version where tenant_id = $1
    ) as revisions
  ) as newest from (
    select id as tenant_id, revision, swept_revision, history_revision, history_at, deletion_started_at from tenant
  ) as t where tenant_id = $1`;

const changeRecordsAhead = 'update subscription set revision = $2 where tenant_id = $1 and revision > $3 returning id';

const removeAllTombstones = 'delete from subscription_tombstone where tenant_id = $1 returning revision';

const itself = 'id in (select tenant_id from (select id as tenant_id from tenant) as t where tenant_id = $1)';

/** Every token of the lost history is older than the first revision with readable changes. */
const sweep = `update tenant set swept_revision = $2 where ${itself} returning id` as TenantSql;

const recountVersions = `update tenant set history_rows = (
    select count(*) from subscription_version where tenant_id = $1
  ) where ${itself} returning id` as TenantSql;

const selectRecords = `select ${recordColumns.join(', ')}, record from subscription
  where tenant_id = $1 and id > $2 order by id limit $3` as const;

const updateColumns: TenantSql = `update subscription set revision = $3, ${recordColumns
  .slice(1)
  .map((name, index) => `${name} = $${index + 4}`)
  .join(', ')} where tenant_id = $1 and id = $2 returning id`;

const selectVersions = `select ${recordColumns.join(', ')}, until_revision, record from ${keptVersions}
  and (id, until_revision) > ($2, $3) order by id, until_revision limit $4` as const;
