import { workerData } from 'node:worker_threads';
import { commitChange } from '../commit/commit-change.ts';
import { loadStaged, type StagedOptions } from '../commit/load-staged.ts';
import { countDifferences } from '../commit/statements.ts';
import { countedColumns, countedNames, countedOf, defineCounted } from '../counts/counted-row.ts';
import type { RemovalGuard, Row, StagedCounts } from '../store.ts';
import { columnNames, defineColumns, rowValues, type SubscriptionRow, valuePlaceholders } from '../subscription-row.ts';
import { selectRevision } from '../tables/revision.ts';
import { dataBytes } from '../tables/storage-use.ts';
import { SqliteConnection, writerPragmas } from './connection.ts';
import { runOnSqlite } from './run-change.ts';
import { serveRequests } from './thread.ts';

// The thread of one staged load on the embedded store (`store.ts`). It may wait for the
// writer's lock inside SQLite, because nothing else runs on this thread.

const start = workerData as StagedLoadStart;
const { file, tenant, keepsOthers } = start;
/** Time limit for waiting for other writers, whose writes take milliseconds. */
const writeWaitMs = 60_000;

const connection = new SqliteConnection(file, writeWaitMs);
connection.run(`${writerPragmas}; pragma cache_size = -16384`);
// Temporary tables are in an unnamed file, which the operating system removes with the process.
connection.run(`
  create temp table staged (${defineColumns({ id: 'text not null primary key', text: 'text', bigint: 'integer' })}) without rowid;
  create temp table changed (id text not null primary key, is_new integer not null, bytes_before integer, bytes_after integer not null,
    ${defineCounted('integer')}) without rowid;
  create temp table removed (id text not null primary key, bytes_before integer not null, ${defineCounted('integer')}) without rowid`);

serveRequests<StagedLoadRequest>((request) =>
  request.kind === 'finish' ? finish(request.dryRun, request.guard) : add(request.rows),
);

function add(rows: readonly SubscriptionRow[]): void {
  connection.run('begin');
  for (const row of rows) connection.change(stageRow, rowValues(row));
  connection.run('commit');
}

/**
 * Compares in one snapshot without holding the writer's lock. If the revision has changed since
 * then, compares again under the lock. A dry run writes too and rolls back, so that it refuses what
 * the load would refuse.
 */
function finish(dryRun: boolean, guard: RemovalGuard | undefined): StagedCounts {
  connection.run('begin');
  const compared = compare();
  connection.run('commit');
  connection.run('begin immediate');
  try {
    const compareAgain = (revision: number): Row => (revision === compared.revision ? compared.row : compare().row);
    const change = commitChange(loadStaged(guard, start), start);
    const counts = runOnSqlite({ connection, tenant, compare: compareAgain }, change);
    connection.run(dryRun ? 'rollback' : 'commit');
    return counts;
  } catch (error) {
    connection.run('rollback');
    throw error;
  }
}

/** Returns the revision that was compared, the number of rows of each table, and their bytes. */
function compare(): { readonly revision: number; readonly row: Row } {
  const revision = Number(connection.first(selectRevision, [tenant])?.revision);
  connection.run('delete from temp.changed; delete from temp.removed');
  connection.change(findChanged, [tenant]);
  if (!keepsOthers) connection.change(findRemoved, [tenant]);
  return { revision, row: connection.first(countDifferences, []) ?? {} };
}

const stageRow = `insert or replace into temp.staged (${columnNames()}) values (${valuePlaceholders(1)})`;

const findChanged = `insert into temp.changed (id, is_new, bytes_before, bytes_after, ${countedNames.join(', ')})
  select t.id, s.id is null, ${dataBytes('s')}, ${dataBytes('t')}, ${countedOf('s')}
  from temp.staged as t left join main.subscription as s on s.tenant_id = $1 and s.id = t.id
  where s.id is null or s.record <> t.record or s.email is not t.email`;

const findRemoved = `insert into temp.removed (${countedColumns}, bytes_before)
  select ${countedColumns}, ${dataBytes('s')} from main.subscription as s
  where tenant_id = $1 and not exists (select 1 from temp.staged as t where t.id = s.id)`;

export type StagedLoadRequest =
  | { readonly kind: 'add'; readonly rows: readonly SubscriptionRow[] }
  | { readonly kind: 'finish'; readonly dryRun: boolean; readonly guard: RemovalGuard | undefined };

/** The start data of the thread. */
export type StagedLoadStart = StagedOptions & { readonly file: string };
