import type { StoreRequest } from '../commit/change-request.ts';
import type { Row, TenantId } from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { columnArrays, comparedArrays, findSame, insertRows, keepRows, selectRows, upsertRows } from './change-sql.ts';
import type { RunStatement } from './statements.ts';

/** Inserts or updates rows in bulk (`StoreRequest`). */
export async function storeRows(
  run: RunStatement,
  tenant: TenantId,
  { rows, revision, keepsHistory, expectsNew }: StoreRequest,
): Promise<readonly Row[]> {
  if (expectsNew && (await insertAll(run, tenant, revision, rows))) return rows.map((_, number) => ({ number }));
  const differing = await withoutStored(run, tenant, rows);
  if (differing.length === 0) return [];
  const columns = columnArrays(differing.map(({ row }) => row));
  const [ids] = columns; // the first column
  const [stored] = await Promise.all([
    run(selectRows, [tenant, ids]),
    keepsHistory && run(keepRows, [tenant, revision, ids]),
    run(upsertRows, [tenant, revision, ...columns]),
  ]);
  const former = new Map(stored.map((row) => [row.id, row]));
  return differing.map(({ row, number }) => ({ ...former.get(row.id), number }));
}

/** The rows that are not stored as they are, each with its place among those of the request. */
async function withoutStored(run: RunStatement, tenant: TenantId, rows: readonly SubscriptionRow[]) {
  if (rows.length === 0) return [];
  const numbered = rows.map((row, number) => ({ row, number }));
  // adjacent keys share pages
  const sorted = numbered.toSorted((a, b) => (a.row.id < b.row.id ? -1 : 1));
  const [found] = await run(findSame, [tenant, ...comparedArrays(sorted.map(({ row }) => row))]);
  const same = new Set(
    String(found?.numbers ?? '')
      .split(',')
      .map(Number),
  );
  return sorted.filter((_, index) => !same.has(index + 1));
}

/** Inserts the rows; returns `false`, and inserts none, if an id is stored already. */
async function insertAll(
  run: RunStatement,
  tenant: TenantId,
  revision: number,
  rows: readonly SubscriptionRow[],
): Promise<boolean> {
  await run('savepoint before_rows', []);
  try {
    await run(insertRows, [tenant, revision, ...columnArrays(rows)]);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== uniqueViolation) throw error;
    await run('rollback to savepoint before_rows', []);
    return false;
  }
}

/** SQLSTATE of a key that exists. */
const uniqueViolation = '23505';
