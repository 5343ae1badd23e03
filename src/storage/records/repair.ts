import { recount } from '../counts/count-changes.ts';
import type { CountRequest, CountWork } from '../counts/count-work.ts';
import type { Row, SqlValue, TenantSql } from '../store.ts';
import { checkedRows, selectRecords } from './check.ts';
import { columnsOfRecord, differingColumns, recordColumns } from './record-columns.ts';

/**
 * Repairs the problems that `checkRecords` and `checkCounts` find in one tenant, in a transaction
 * that creates the next revision. Columns are set from the record's JSON, because clients receive
 * the JSON; a record whose JSON is incomplete is left alone. Repaired records get the next
 * revision, so that clients that read changes receive them again.
 */
export function* repairSubscriptions(): CountWork {
  const [[tenant] = []] = yield [ask(selectRevision)];
  const revision = Number(tenant?.revision ?? 0);
  yield [ask(touchRecordsWithTombstone, revision + 1)];
  yield [ask(removeLiveTombstones)];
  yield [
    ask(lowerRecords, revision + 1, revision),
    ask(lowerTombstones, revision + 1, revision),
    ask(lowerSwept, revision),
  ];
  for (let from = ''; ; ) {
    const [rows = []] = yield [ask(selectRecords, from, checkedRows)];
    const repaired = rows.filter((row) => (differingColumns(row)?.length ?? 0) > 0);
    if (repaired.length > 0)
      yield repaired.map((row) => ask(updateColumns, String(row.id), revision + 1, ...columnsAfterId(row)));
    if (rows.length < checkedRows) break;
    from = String(rows.at(-1)?.id);
  }
  yield* recount();
}

const ask = (sql: TenantSql, ...values: SqlValue[]): CountRequest => ({ kind: 'read', sql, values });

/** Without the id, which is the row's key. */
const columnsAfterId = (row: Row): readonly SqlValue[] => columnsOfRecord(String(row.record))?.slice(1) ?? [];

const selectRevision = 'select revision from (select id as tenant_id, revision from tenant) as t where tenant_id = $1';

const touchRecordsWithTombstone = `update subscription set revision = $2 where tenant_id = $1 and id in (
    select id from subscription_tombstone where tenant_id = $1
  ) returning id`;

const removeLiveTombstones = `delete from subscription_tombstone where tenant_id = $1 and id in (
    select id from subscription where tenant_id = $1
  ) returning id`;

const lowerRecords = 'update subscription set revision = $2 where tenant_id = $1 and revision > $3 returning id';

const lowerTombstones =
  'update subscription_tombstone set revision = $2 where tenant_id = $1 and revision > $3 returning id';

const lowerSwept = `update tenant set swept_revision = $2 where swept_revision > $2 and id in (
    select tenant_id from (select id as tenant_id from tenant) as t where tenant_id = $1
  ) returning id`;

const updateColumns = `update subscription set revision = $3, ${recordColumns
  .slice(1)
  .map((name, index) => `${name} = $${index + 4}`)
  .join(', ')} where tenant_id = $1 and id = $2 returning id` as const;
