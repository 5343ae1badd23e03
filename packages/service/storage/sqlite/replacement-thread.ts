import { workerData } from 'node:worker_threads';
import { countChanges, countedChangesMax, recount, toRowChange } from '../counts/count-changes.ts';
import { countedColumns, countedNames, countedOf, defineCounted, newCountedOf } from '../counts/counted-row.ts';
import { guardRemoval } from '../guard-removal.ts';
import { makeRoom } from '../records/make-room.ts';
import type { RemovalGuard, ReplaceCounts, Row, TenantId } from '../store.ts';
import {
  assignColumns,
  columnNames,
  defineColumns,
  rowValues,
  type SubscriptionRow,
  valuePlaceholders,
  versionColumns,
} from '../subscription-row.ts';
import { setSweptRevision } from '../tables/history.ts';
import { commitRevision, selectRevision } from '../tables/revision.ts';
import { dataBytes, type Growth, growthOf, toChangedSums } from '../tables/storage-use.ts';
import { SqliteConnection, writerPragmas } from './connection.ts';
import { countOnSqlite } from './run-count.ts';
import { serveRequests } from './thread.ts';

// The thread of one replacement on the embedded store (`store.ts`). It may wait for the
// writer's lock inside SQLite, because nothing else runs on this thread.

const { file, tenant, keepsHistory, bytesMax, importId } = workerData as ReplacementStart;
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

serveRequests<ReplacementRequest>((request) =>
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
 * the replacement would refuse.
 */
function finish(dryRun: boolean, guard: RemovalGuard | undefined): ReplaceCounts {
  connection.run('begin');
  const compared = compare();
  connection.run('commit');
  connection.run('begin immediate');
  try {
    const last = readLast();
    const found = last.revision === compared.revision ? compared : compare();
    if (guard !== undefined) guardRemoval(found.counts, guard);
    write(found, last);
    connection.run(dryRun ? 'rollback' : 'commit');
    return found.counts;
  } catch (error) {
    connection.run('rollback');
    throw error;
  }
}

interface Comparison {
  readonly counts: ReplaceCounts;
  readonly growth: Growth;
  readonly revision: number;
}

function compare(): Comparison {
  const { revision } = readLast();
  connection.run('delete from temp.changed; delete from temp.removed');
  const changed = connection.change(findChanged, [tenant]);
  const removed = connection.change(findRemoved, [tenant]);
  const row = connection.first(sumDifferences, [tenant]) ?? {};
  const [staged, inserted] = [Number(row.staged), Number(row.inserted)];
  const counts = { inserted, updated: changed - inserted, unchanged: staged - changed, removed };
  return { counts, growth: growthOf(toChangedSums(counts, row), keepsHistory), revision };
}

interface LastRevision {
  readonly row: Row;
  readonly revision: number;
}

function readLast(): LastRevision {
  const row = connection.first(selectRevision, [tenant]) ?? { revision: 0 };
  return { row, revision: Number(row.revision) };
}

function write({ counts: { inserted, updated, removed }, growth }: Comparison, last: LastRevision): void {
  const changes = inserted + updated + removed;
  if (changes === 0) return;
  const revision = last.revision + 1;
  if (keepsHistory) connection.change(keepVersions, [tenant, revision]);
  connection.change(writeChanged, [tenant, revision]);
  if (removed > 0) {
    connection.change('delete from subscription where tenant_id = $1 and id in (select id from temp.removed)', [
      tenant,
    ]);
    connection.change(insertTombstones, [tenant, revision]);
  }
  if (inserted > 0) connection.change(removeTombstonesOfInserted, [tenant]);
  const work =
    changes > countedChangesMax
      ? recount({ isChange: true })
      : countChanges(connection.all(readChanges, []).map(toRowChange));
  countOnSqlite(connection, tenant, work);
  const room = countOnSqlite(connection, tenant, makeRoom({ last: last.row, growth, bytesMax }));
  if (room.sweptRevision !== undefined) connection.change(setSweptRevision, [tenant, room.sweptRevision]);
  const kept = keepsHistory ? updated + removed : 0;
  for (const statement of commitRevision({
    ...room,
    tenant,
    last: last.row,
    keepsHistory,
    importId,
    versions: kept - room.versions,
  }))
    connection.change(...statement);
}

const stageRow = `insert or replace into temp.staged (${columnNames()}) values (${valuePlaceholders(1)})`;

const findChanged = `insert into temp.changed (id, is_new, bytes_before, bytes_after, ${countedNames.join(', ')})
  select t.id, s.id is null, ${dataBytes('s')}, ${dataBytes('t')}, ${countedOf('s')}
  from temp.staged as t left join main.subscription as s on s.tenant_id = $1 and s.id = t.id
  where s.id is null or s.record <> t.record or s.email is not t.email`;

const findRemoved = `insert into temp.removed (${countedColumns}, bytes_before)
  select ${countedColumns}, ${dataBytes('s')} from main.subscription as s
  where tenant_id = $1 and not exists (select 1 from temp.staged as t where t.id = s.id)`;

/** The revived rows have a tombstone. */
const sumDifferences = `select (select count(*) from temp.staged) as staged,
  (select coalesce(sum(is_new), 0) from temp.changed) as inserted,
  (select coalesce(sum(bytes_before), 0) from temp.changed) + (select coalesce(sum(bytes_before), 0) from temp.removed) as bytes_before,
  (select coalesce(sum(bytes_after), 0) from temp.changed) as bytes_after,
  (select count(*) from main.subscription_tombstone where tenant_id = $1
    and id in (select id from temp.changed where is_new)) as revived`;

const keepVersions = `insert into subscription_version (${versionColumns})
  select s.tenant_id, $2, s.revision, ${columnNames('s')}
  from (select id from temp.changed where not is_new union all select id from temp.removed) as c
  cross join main.subscription as s on s.tenant_id = $1 and s.id = c.id and s.revision < $2`;

const writeChanged = `insert into subscription (tenant_id, revision, ${columnNames()})
  select $1, $2, ${columnNames('t')}
  from temp.changed as c cross join temp.staged as t on t.id = c.id where true order by t.created_date, t.id
  on conflict (tenant_id, id) do update set ${assignColumns}, revision = excluded.revision`;

const insertTombstones = `insert into subscription_tombstone (tenant_id, id, revision) select $1, id, $2 from temp.removed where true
  on conflict (tenant_id, id) do update set revision = excluded.revision`;

const removeTombstonesOfInserted =
  'delete from subscription_tombstone where tenant_id = $1 and id in (select id from temp.changed where is_new)';

const readChanges = `select c.id, not c.is_new as was, ${countedOf('c')}, 1 as stays, ${newCountedOf('t')}
  from temp.changed as c cross join temp.staged as t on t.id = c.id
  union all
  select id, 1, ${countedNames.join(', ')}, 0, ${countedNames.map(() => 'null').join(', ')} from temp.removed`;

export type ReplacementRequest =
  | { readonly kind: 'add'; readonly rows: readonly SubscriptionRow[] }
  | { readonly kind: 'finish'; readonly dryRun: boolean; readonly guard: RemovalGuard | undefined };

/** The start data of the thread. */
export interface ReplacementStart {
  readonly file: string;
  readonly tenant: TenantId;
  /** Whether former versions of changed records are kept. */
  readonly keepsHistory: boolean;
  /** The storage budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
  readonly importId: string | undefined;
}
