import type pg from 'pg';
import { changeMsMax } from '../deadline.ts';
import { repairSubscriptions } from '../records/repair.ts';
import { sweepHistory } from '../records/sweep-history.ts';
import type {
  HistorySweep,
  HistorySwept,
  RecordOwner,
  ReplaceCounts,
  Row,
  TenantId,
  TenantStatement,
} from '../store.ts';
import type { SubscriptionRow } from '../subscription-row.ts';
import { eraseStatements } from '../tables/delete-tenant.ts';
import { removeOldTombstones, setSweptRevision } from '../tables/history.ts';
import { commitRevision, countNewRanges, erasedRanges, type RevisionCommit } from '../tables/revision.ts';
import { rowBytes, sumErased } from '../tables/storage-use.ts';
import { eraseVersionsOf } from '../tables/subscription-ids.ts';
import { addErasures, announceChange, begin, eraseVersions, lastRevision, lockTenant } from './change-sql.ts';
import { useUnbounded } from './connect.ts';
import type { Use } from './connections.ts';
import type { PostgresListener } from './listener.ts';
import { changeRows, loadRows, removeRows, type TenantChange, toRemoved } from './load.ts';
import { countOnPostgres } from './run-count.ts';
import { limitTime, noTimeLimit } from './session.ts';
import type { DatabaseFactsReader, RunStatement, Statements } from './statements.ts';

type Client = pg.ClientBase;

/** What changes need of the store. */
interface ChangeParts {
  readonly keepsHistory: boolean;
  /** The storage budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
  readonly url: string;
  readonly statements: Statements;
  readonly listener: Pick<PostgresListener, 'noteOwnChange'>;
  readonly facts: Pick<DatabaseFactsReader, 'read'>;
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

  loadSubscriptions(
    tenant: TenantId,
    rows: readonly SubscriptionRow[],
    expectsNew = false,
    importId?: string,
    removed: readonly string[] = [],
  ): Promise<ReplaceCounts> {
    const { keepsHistory } = this.#parts;
    return this.#changeTenant(tenant, (run, how) =>
      loadRows(run, { ...how, tenant, rows, expectsNew, importId, keepsHistory, removed }),
    );
  }

  deleteSubscriptions(tenant: TenantId, ids: readonly string[], owner?: RecordOwner): Promise<number> {
    return this.#changeTenant(tenant, async (run, { revision }) => {
      const [removed, ...erased] = await Promise.all([
        removeRows(run, tenant, { revision, ids, keepsHistory: false }),
        run(eraseVersions, [tenant, ids]),
        ...(owner === undefined ? [] : [run(eraseVersionsOf[owner.column], [tenant, owner.value])]),
      ]);
      const versions = erased.flat();
      const ranges = this.#parts.keepsHistory ? erasedRanges([...removed, ...versions], revision) : [];
      const columns = [ranges.map(({ from }) => from), ranges.map(({ until }) => until), ranges.map(({ n }) => n)];
      const stored = ranges.length === 0 ? [] : await run(addErasures, [tenant, ...columns]);
      const erasedVersions = sumErased(versions, countNewRanges(ranges, stored));
      return { changes: removed.map(toRemoved), result: removed.length, erasedVersions };
    });
  }

  eraseRows(tenant: TenantId, limit: number): Promise<number> {
    return this.#change(tenant, async (client) => {
      for (const sql of eraseStatements) {
        const erased = (await this.#query(client, sql, [tenant, limit])).length;
        if (erased > 0) return erased;
      }
      return 0;
    });
  }

  sweepTombstones(tenant: TenantId, revision: number, limit: number): Promise<number> {
    return this.#change(tenant, async (client) => {
      const locked = await this.#query(client, lockTenant, [tenant]);
      const rows = await this.#query(client, removeOldTombstones, [tenant, revision, limit]);
      if (rows.length === 0) return 0;
      await this.#query(client, setSweptRevision, [tenant, revision]);
      const last = lastRevision(locked).row;
      const bytes = -rows.length * rowBytes.tombstone;
      await this.#commitRevision(client, tenant, last, { bytes });
      await client.query(announceChange);
      return rows.length;
    });
  }

  sweepHistory(tenant: TenantId, sweep: HistorySweep, limit: number): Promise<HistorySwept> {
    return this.#change(tenant, async (client) => {
      const run: RunStatement = (text, values) => this.#query(client, text, values);
      await run(lockTenant, [tenant]);
      return countOnPostgres(run, tenant, sweepHistory(sweep, limit));
    });
  }

  recountSubscriptions(tenant: TenantId, nowSeconds: number): Promise<void> {
    return useUnbounded(this.#parts.url, (client) =>
      this.#parts.statements.inTenant(client, begin, tenant, async () => {
        await client.query(noTimeLimit);
        const { row } = lastRevision(await this.#query(client, lockTenant, [tenant]));
        const run: RunStatement = (text, values) => this.#query(client, text, values);
        const { keepsHistory } = this.#parts;
        const repaired = await countOnPostgres(run, tenant, repairSubscriptions({ nowSeconds, keepsHistory }));
        if (repaired === undefined) return;
        await this.#commitRevision(client, tenant, row, repaired);
        await client.query(announceChange);
      }),
    );
  }

  async writeTenant(tenant: TenantId, statements: readonly TenantStatement[]): Promise<readonly (readonly Row[])[]> {
    return this.#change(tenant, (client) =>
      Promise.all(statements.map(({ sql, values }) => this.#query(client, sql, [tenant, ...values]))),
    );
  }

  async #commitRevision(
    client: Client,
    tenant: TenantId,
    last: Row,
    how: Pick<RevisionCommit, 'revision' | 'beginsHistory' | 'versions' | 'bytes'>,
  ): Promise<void> {
    const { keepsHistory } = this.#parts;
    for (const statement of commitRevision({ tenant, last, keepsHistory, ...how }))
      await this.#query(client, ...statement);
  }

  #changeTenant<T>(tenant: TenantId, change: TenantChange<T>): Promise<T> {
    return this.#change(tenant, (client) => {
      const run: RunStatement = (text, values) => this.#query(client, text, values);
      const announce = () => client.query(announceChange);
      const { keepsHistory, bytesMax, facts } = this.#parts;
      return changeRows({ tenant, keepsHistory, bytesMax, run, announce, facts: () => facts.read(client) }, change);
    });
  }

  /** Runs a transaction that changes a tenant's rows; it may exceed a request's time limit. */
  async #change<T>(tenant: TenantId, work: (client: Client) => Promise<T>): Promise<T> {
    const limit = limitTime(changeMsMax, changeMsMax);
    const change = (client: Client): Promise<T> =>
      this.#parts.statements.inTenant(client, begin, tenant, async () => {
        // sent before the first statement of the work
        const limiting = this.#query(client, limit, []);
        const [result] = await Promise.all([work(client), limiting]);
        return result;
      });
    const done = await this.#use(change, { tenant, longestMs: changeMsMax });
    this.#parts.listener.noteOwnChange();
    return done;
  }

  #query(client: Client, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#parts.statements.query(client, text, values);
  }
}
