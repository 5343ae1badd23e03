import type pg from 'pg';
import type { ChangeOptions } from '../commit/commit-change.ts';
import { changeTenant, type TenantChange } from '../commit/tenant-change.ts';
import { changeMsMax } from '../deadline.ts';
import type { Row, TenantId, TenantStatement } from '../store.ts';
import { begin } from './change-sql.ts';
import { useUnbounded } from './connect.ts';
import type { Use } from './connections.ts';
import { runOnPostgres } from './run-change.ts';
import { limitTime, noTimeLimit } from './session.ts';
import type { DatabaseFactsReader, RunStatement, Statements } from './statements.ts';

type Client = pg.ClientBase;

/** What changes need of the store. */
interface ChangeParts extends ChangeOptions {
  readonly url: string;
  readonly statements: Statements;
  readonly facts: Pick<DatabaseFactsReader, 'known'>;
}

/** Runs work on a connection of the pool, within the deadline of the store. */
type UseConnection = <T>(work: (client: Client) => Promise<T>, how: Omit<Use, 'deadline'>) => Promise<T>;

/** Changes a tenant's rows, each time in one transaction that locks the tenant. */
export class TenantChanges {
  readonly #parts: ChangeParts;
  readonly #use: UseConnection;

  constructor(parts: ChangeParts, use: UseConnection) {
    this.#parts = parts;
    this.#use = use;
  }

  /** A repair reads all rows of the tenant, on a connection of its own. */
  run(change: TenantChange): Promise<unknown> {
    const { tenant, kind } = change;
    const work = (run: RunStatement) => {
      const isDistributed = this.#parts.facts.known?.isDistributed === true;
      return runOnPostgres({ run, tenant, isDistributed }, changeTenant(change, this.#parts));
    };
    if (kind !== 'recount') return this.#inPool(tenant, work);
    return useUnbounded(this.#parts.url, (client) => this.#inTenant(client, tenant, noTimeLimit, work));
  }

  writeTenant(tenant: TenantId, statements: readonly TenantStatement[]): Promise<readonly (readonly Row[])[]> {
    return this.#inPool(tenant, (run) =>
      Promise.all(statements.map(({ sql, values }) => run(sql, [tenant, ...values]))),
    );
  }

  /** It may exceed a request's time limit. */
  #inPool<T>(tenant: TenantId, work: (run: RunStatement) => Promise<T>): Promise<T> {
    const limit = limitTime(changeMsMax, changeMsMax);
    return this.#use((client) => this.#inTenant(client, tenant, limit, work), { tenant, longestMs: changeMsMax });
  }

  #inTenant<T>(client: Client, tenant: TenantId, limit: string, work: (run: RunStatement) => Promise<T>): Promise<T> {
    const { statements } = this.#parts;
    const run: RunStatement = (text, values) => statements.query(client, text, values);
    return statements.inTenant(client, begin, tenant, async () => {
      // sent before the first statement of the work
      const [, result] = await Promise.all([run(limit, []), work(run)]);
      return result;
    });
  }
}
