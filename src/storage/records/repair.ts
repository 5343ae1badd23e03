import { recount } from '../counts/count-changes.ts';
import type { CountRequest, CountWork } from '../counts/count-work.ts';
import type { Row, SqlValue, TenantSql } from '../store.ts';
import { checkedRows, selectRecords } from './check.ts';
import { columnsOfRecord, recordColumns, unlikeColumns } from './record-columns.ts';

/**
 * Mends what `checkRecords` and `checkCounts` find wrong with one tenant, in a transaction that
 * makes the next revision. Columns follow the text of their record, which is what clients are
 * given; a text that is no whole record stays. What is mended gets the next revision, so that those
 * who follow the changes read it again.
 */
export function* repairSubscriptions(): CountWork {
  const [[tenant] = []] = yield [ask(selectRevision)];
  const revision = Number(tenant?.revision ?? 0);
  yield [ask(touchBuried, revision + 1)];
  yield [ask(unbury)];
  yield [
    ask(lowerRecords, revision + 1, revision),
    ask(lowerTombstones, revision + 1, revision),
    ask(lowerSwept, revision),
  ];
  for (let from = ''; ; ) {
    const [rows = []] = yield [ask(selectRecords, from, checkedRows)];
    const mended = rows.filter((row) => (unlikeColumns(row)?.length ?? 0) > 0);
    if (mended.length > 0)
      yield mended.map((row) => ask(updateColumns, String(row.id), revision + 1, ...columnsAfterId(row)));
    if (rows.length < checkedRows) break;
    from = String(rows.at(-1)?.id);
  }
  yield* recount();
}

const ask = (sql: TenantSql, ...values: SqlValue[]): CountRequest => ({ kind: 'read', sql, values });

/** The id stays: it is the key of the row. */
const columnsAfterId = (row: Row): readonly SqlValue[] => columnsOfRecord(String(row.record))?.slice(1) ?? [];

const selectRevision = 'select revision from (select id as tenant_id, revision from tenant) as t where tenant_id = $1';

const touchBuried = `update subscription set revision = $2 where tenant_id = $1 and id in (
    select id from subscription_tombstone where tenant_id = $1
  ) returning id`;

const unbury = `delete from subscription_tombstone where tenant_id = $1 and id in (
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
