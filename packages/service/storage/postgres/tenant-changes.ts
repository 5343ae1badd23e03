import type pg from 'pg';
import type { ChangeOptions } from '../commit/commit-change.ts';
import { changeTenant, type TenantChange } from '../commit/tenant-change.ts';
import { changeMsMax } from '../deadline.ts';
import type { Row, TenantId, TenantStatement } from '../store.ts';
import { begin, lockTenant } from './change-sql.ts';
import { useUnbounded } from './connect.ts';
import type { Use } from './connections.ts';
import { runOnPostgres } from './run-change.ts';
import { limitTime, noTimeLimit } from './session.ts';
import { settleCommit } from './settle-commit.ts';
import type { RunStatement, Statements } from './statements.ts';

// Changes of a tenant's rows, each in one transaction.

/** What changes need of the store. */
export interface ChangeParts extends ChangeOptions {
  readonly url: string;
  readonly statements: Statements;
  /** Runs work on a connection of the pool, within the deadline of the store. */
  use<T>(work: (client: pg.ClientBase) => Promise<T>, how?: Omit<Use, 'deadline'>): Promise<T>;
}

/** Runs a change. A repair, which reads all rows of the tenant, has a connection of its own. */
export function runChange(parts: ChangeParts, change: TenantChange): Promise<unknown> {
  const { tenant, kind } = change;
  return settleCommit(
    (onReady) => {
      const work = async (run: RunStatement) =>
        onReady(await runOnPostgres({ run, tenant }, changeTenant(change, parts)));
      if (kind !== 'repair') return inPool(parts, tenant, work);
      return useUnbounded(parts.url, (client) => inTenant(parts, client, tenant, noTimeLimit, work));
    },
    () => readLocked(parts, tenant),
  );
}

/** Reads the tenant's row once nothing holds its lock. */
export async function readLocked({ use, statements }: ChangeParts, tenant: TenantId): Promise<Row | undefined> {
  const read = (client: pg.ClientBase) => statements.query(client, lockTenant, [tenant]);
  const [row] = await use((client) => statements.inTenant(client, begin, tenant, () => read(client)), { tenant });
  return row;
}

export const writeTenant = (
  parts: ChangeParts,
  tenant: TenantId,
  statements: readonly TenantStatement[],
): Promise<readonly (readonly Row[])[]> =>
  inPool(parts, tenant, (run) => Promise.all(statements.map(({ sql, values }) => run(sql, [tenant, ...values]))));

/** It may exceed a request's time limit. */
function inPool<T>(parts: ChangeParts, tenant: TenantId, work: (run: RunStatement) => Promise<T>): Promise<T> {
  const limit = limitTime(changeMsMax, changeMsMax);
  return parts.use((client) => inTenant(parts, client, tenant, limit, work), { tenant, longestMs: changeMsMax });
}

function inTenant<T>(
  { statements }: ChangeParts,
  client: pg.ClientBase,
  tenant: TenantId,
  limit: string,
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  const run: RunStatement = (text, values) => statements.query(client, text, values);
  return statements.inTenant(client, begin, tenant, async () => {
    // sent before the first statement of the work
    const [, result] = await Promise.all([run(limit, []), work(run)]);
    return result;
  });
}
