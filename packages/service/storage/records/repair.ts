import { recount } from '../counts/count-changes.ts';
import { ask, type CountRequest, type CountWork } from '../counts/count-work.ts';
import type { Row, SqlValue, TenantSql } from '../store.ts';
import { columnNames, versionColumns } from '../subscription-row.ts';
import { historyStart } from '../tables/history.ts';
import { clockNow, isHistoryKept } from '../tables/revision.ts';
import { aheadOf } from '../tables/settle-instant.ts';
import { countCharge } from '../tables/storage-use.ts';
import { checkedRows, columnsOfRecord, differingColumns, recordColumns, selectRecords } from './check.ts';
import { buryRemoved, keptVersions, wrongBounds, wrongCommits, wrongVersions } from './wrong-history.ts';

interface RepairOptions {
  readonly nowSeconds: number;
  /** Whether the former versions of repaired records are kept. */
  readonly keepsHistory: boolean;
}

/** What a repair leads to. */
interface Repaired {
  /** The tenant's next revision. */
  readonly revision: number;
  /** Whether earlier revisions cannot be read any more. */
  readonly beginsHistory: boolean;
  /** Versions that were kept of repaired records. */
  readonly versions: number;
  /** By how many bytes the charge of the tenant grows, counted again. */
  readonly bytes: number;
}

/**
 * Repairs the problems that `checkRecords` and `checkCounts` find in one tenant, in a transaction
 * that creates the next revision. Columns are set from the record's
 * JSON, because clients receive the JSON; a record whose JSON is incomplete is left alone. Repaired
 * records get the next revision, so that clients that read changes receive them again.
 *
 * A revision above the tenant's shows that revisions were lost; clients may hold tokens and ETags
 * of them. The tenant then begins a new history, as after a restore (`beginHistory`). Versions that
 * cannot be true end the history that they belong to, and so do commits that are later than the
 * clock: all later ones would be stamped like them.
 *
 * Returns `undefined` for a tenant that is being deleted, or was: what it wrote could stay.
 */
export function* repairSubscriptions({ nowSeconds, keepsHistory }: RepairOptions): CountWork<Repaired | undefined> {
  const [[tenant] = []] = yield [ask(selectRevisions)];
  if (tenant === undefined || tenant.deletion_started_at !== null) return undefined;
  const known = Number(tenant.revision);
  const ahead = yield [ask(recordAhead, known), ask(tombstoneAhead, known), ask(versionAhead, known)];
  const newest = Math.max(Number(tenant.swept_revision), ...ahead.map(([row]) => Number(row?.revision ?? 0)));
  const isNewHistory = newest > known;
  const revision = 1 + (isNewHistory ? Math.max(historyStart(nowSeconds), newest) : known);
  const wrong = (yield [ask(wrongVersions, 1), ask(wrongCommits), ask(wrongBounds)]).flat();
  yield* repairVersions();
  const isAhead = isHistoryKept(tenant) && aheadOf(Number(tenant.history_at), clockNow()) > 0;
  const beginsHistory = isNewHistory || isAhead || wrong.length > 0;
  const keeps = keepsHistory && !beginsHistory;
  let versions = 0;
  yield [ask(recountVersions)];
  if (keeps) versions += (yield [ask(keepRecordsWithTombstone, revision)])[0]?.length ?? 0;
  yield [ask(touchRecordsWithTombstone, revision)];
  yield [ask(removeLiveTombstones)];
  if (isNewHistory)
    yield [
      ask(changeRecordsAhead, revision, known),
      ask(changeTombstonesAhead, revision, known),
      ask(forgetChanges, revision),
    ];
  yield [ask(buryRemoved, revision)];
  for (let from = ''; ; ) {
    const [rows = []] = yield [ask(selectRecords, from, checkedRows)];
    const repaired = rows.filter((row) => (differingColumns(row)?.length ?? 0) > 0);
    if (keeps && repaired.length > 0) {
      versions += (yield repaired.map(({ id }) => ask(keepRecord, revision, String(id)))).flat().length;
      // their columns were as wrong
      yield repaired.map((row) => ask(updateVersion, String(row.id), revision, ...columnsAfterId(row)));
    }
    if (repaired.length > 0)
      yield repaired.map((row) => ask(updateColumns, String(row.id), revision, ...columnsAfterId(row)));
    if (rows.length < checkedRows) break;
    from = String(rows.at(-1)?.id);
  }
  yield yield* recount({ isChange: false });
  const [[charge] = []] = yield [ask(countCharge)];
  return { revision, beginsHistory, versions, bytes: Number(charge?.counted) - Number(charge?.charged) };
}

/**
 * Sets the columns of former versions from their JSON. One whose JSON is damaged is erased, so that
 * a report of its time says that it lacks a record.
 */
function* repairVersions(): CountWork {
  for (let [id, until] = ['', 0]; ; ) {
    const [rows = []] = yield [ask(selectVersions, id, until, checkedRows)];
    const repairs = rows.flatMap((row) => repairVersion(row, differingColumns(row)));
    if (repairs.length > 0) yield repairs;
    if (rows.length < checkedRows) return;
    [id, until] = [String(rows.at(-1)?.id), Number(rows.at(-1)?.until_revision)];
  }
}

function repairVersion(row: Row, differing: readonly string[] | undefined): readonly CountRequest[] {
  if (differing?.length === 0) return [];
  const [id, from, until] = [String(row.id), Number(row.from_revision), Number(row.until_revision)];
  return differing === undefined || differing.includes('id')
    ? [ask(eraseVersion, id, until), ask(addErasure, from, until)]
    : [ask(updateVersion, id, until, ...columnsAfterId(row))];
}

/** Without the id, which is the row's key. */
const columnsAfterId = (row: Row): readonly SqlValue[] => columnsOfRecord(String(row.record))?.slice(1) ?? [];

const selectRevisions = `select revision, swept_revision, history_revision, history_at, deletion_started_at from (
    select id as tenant_id, revision, swept_revision, history_revision, history_at, deletion_started_at from tenant
  ) as t where tenant_id = $1` as const;

const recordAhead = 'select max(revision) as revision from subscription where tenant_id = $1 and revision > $2';

const tombstoneAhead =
  'select max(revision) as revision from subscription_tombstone where tenant_id = $1 and revision > $2';

const versionAhead =
  'select max(until_revision) as revision from subscription_version where tenant_id = $1 and until_revision > $2';

/** Keeps the records of the tenant `$1` as they are until revision `$2`. */
const keepRecords = `insert into subscription_version (${versionColumns})
  select tenant_id, cast($2 as bigint), revision, ${columnNames()} from subscription where tenant_id = $1 and revision < $2`;

const keepRecordsWithTombstone = `${keepRecords}
  and id in (select id from subscription_tombstone where tenant_id = $1) on conflict do nothing returning id` as TenantSql;

const keepRecord = `${keepRecords} and id = $3 on conflict do nothing returning id` as TenantSql;

const touchRecordsWithTombstone = `update subscription set revision = $2 where tenant_id = $1 and id in (
    select id from subscription_tombstone where tenant_id = $1
  ) returning id`;

const removeLiveTombstones = `delete from subscription_tombstone where tenant_id = $1 and id in (
    select id from subscription where tenant_id = $1
  ) returning id`;

const changeRecordsAhead = 'update subscription set revision = $2 where tenant_id = $1 and revision > $3 returning id';

const changeTombstonesAhead =
  'update subscription_tombstone set revision = $2 where tenant_id = $1 and revision > $3 returning id';

/**
 * Every token of the lost history is older than the first revision that changes can be read from.
 */
const forgetChanges = 'update tenant set swept_revision = $2 where id = $1';

const recountVersions = `update tenant set history_rows = (
    select count(*) from subscription_version where tenant_id = $1
  ) where id = $1`;

/** Assigns the columns after the id to the parameters from `$first` on. */
const assignAfterId = (first: number): string =>
  recordColumns
    .slice(1)
    .map((name, index) => `${name} = $${index + first}`)
    .join(', ');

const updateColumns: TenantSql = `update subscription set revision = $3, ${assignAfterId(4)}
  where tenant_id = $1 and id = $2 returning id`;

const selectVersions = `select ${recordColumns.join(', ')}, from_revision, until_revision, record from ${keptVersions}
  and (id, until_revision) > ($2, $3) order by id, until_revision limit $4` as const;

const updateVersion: TenantSql = `update subscription_version set ${assignAfterId(4)}
  where tenant_id = $1 and id = $2 and until_revision = $3 returning id`;

const eraseVersion =
  'delete from subscription_version where tenant_id = $1 and id = $2 and until_revision = $3 returning id';

const addErasure = `insert into subscription_erasure as e (tenant_id, from_revision, until_revision, n)
  values ($1, $2, $3, 1) on conflict (tenant_id, from_revision, until_revision) do update set n = e.n + 1
  where e.tenant_id = $1 returning n` as const;
