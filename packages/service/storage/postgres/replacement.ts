import { countChanges, countedChangesMax, recount, toRowChange } from '../counts/count-changes.ts';
import { countedColumns, countedNames, countedOf, defineCounted, newCountedOf } from '../counts/counted-row.ts';
import { guardRemoval } from '../guard-removal.ts';
import { makeRoom } from '../records/make-room.ts';
import type { RemovalGuard, ReplaceCounts, Replacement, Row, TenantId } from '../store.ts';
import { assignColumns, columnNames, defineColumns, versionColumns } from '../subscription-row.ts';
import { setSweptRevision } from '../tables/history.ts';
import { commitRevision } from '../tables/revision.ts';
import { dataBytes, growthOf, rowBytes, toChangedSums } from '../tables/storage-use.ts';
import { announceChange, begin, columnArrays, lastRevision, lockTenant, unnestColumns } from './change-sql.ts';
import { close, connect, createDedicatedClient } from './connect.ts';
import { bypassesRowSecurity } from './database-facts.ts';
import { toStorageError } from './error.ts';
import { countOnPostgres } from './run-count.ts';
import { distributedOption, noTimeLimit, tenantRights, tenantRole } from './session.ts';

/** Timeout of one statement in milliseconds: enough for some 100 million records. */
const statementMsMax = 3_600_000;

/**
 * Opens a replacement on a dedicated connection with long-running statements. Rows are collected in
 * a temporary table and compared with the stored keys, and only differences are written. Only the
 * comparison reads the tenant's table, so that a distributed engine can run it. Everything is one
 * transaction, because a pooler could continue the next one in another session, without the
 * temporary tables.
 */
export async function openPostgresReplacement(url: string, target: ReplacementTarget): Promise<Replacement> {
  const { tenant } = target;
  const client = createDedicatedClient(url, {
    name: 'subreport-replace',
    queryMs: statementMsMax,
    keepAlive: true,
    options: distributedOption,
    pipeline: true, // counting sends several statements at once
  });
  const run = async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> => {
    try {
      return (await client.query(text, [...values])).rows;
    } catch (error) {
      throw toStorageError(error);
    }
  };
  let stepDown = false;
  try {
    await connect(client, url);
    stepDown = await bypassesRowSecurity(client);
    for (const statement of [begin, noTimeLimit, ...createTables]) await run(statement);
    if (stepDown) await run(`grant select, insert on staged, kept, changed, removed to ${tenantRole}`);
  } catch (error) {
    await close(client);
    throw error;
  }
  return {
    add: async (rows) => {
      await run(stageRows, columnArrays(rows));
    },
    async finish(dryRun, guard) {
      await run('analyze staged');
      for (const [text, values] of tenantRights(tenant, stepDown)) await run(text, values);
      const counts = await apply(run, target, guard);
      // a dry run has written too, so that it refuses what the replacement would refuse
      await run(dryRun ? 'rollback' : 'commit');
      return counts;
    },
    close: () => close(client), // an open transaction is rolled back with its session
  };
}

interface ReplacementTarget {
  readonly tenant: TenantId;
  /** Whether former versions of changed records are kept. */
  readonly keepsHistory: boolean;
  /** The storage budget of a tenant in bytes; 0 means no limit. */
  readonly bytesMax: number;
  readonly importId: string | undefined;
}

type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

async function apply(run: Run, target: ReplacementTarget, guard: RemovalGuard | undefined): Promise<ReplaceCounts> {
  const { tenant, keepsHistory, bytesMax } = target;
  const { row: last, next: revision } = lastRevision(await run(lockTenant, [tenant]));
  // the temporary tables are joined completely, and the planner has no statistics of them
  await run('set local enable_nestloop = off');
  await run(keepKeys, [tenant]);
  await run(findChanged);
  await run(findRemoved);
  const [counted = {}] = await run(countDifferences);
  const [staged, inserted, changed, removed] = ['staged', 'inserted', 'changed', 'removed'].map((name) =>
    Number(counted[name]),
  ) as [number, number, number, number];
  const counts = { inserted, updated: changed - inserted, unchanged: staged - changed, removed };
  if (guard !== undefined) guardRemoval(counts, guard);
  const growth = growthOf(toChangedSums(counts, { ...counted, revived: 0 }), keepsHistory);
  if (changed + removed === 0) return counts;
  if (keepsHistory && changed - inserted + removed > 0) {
    for (const setting of lookUpByKey) await run(`set local ${setting}`);
    await run(keepVersions, [tenant, revision]);
    for (const setting of joinWhole) await run(`set local ${setting}`);
  }
  await run(writeChanged, [tenant, revision]);
  // Rows are looked up by key from here on: the planner may take the tenant for a small one, and
  // without these settings, removing 25,000 rows took 170 s of scans instead of 1 s.
  for (const setting of lookUpByKey) await run(`set local ${setting}`);
  if (removed > 0) {
    await run(removeRows, [tenant]);
    await run(insertTombstones, [tenant, revision]);
  }
  const revived = inserted > 0 ? (await run(removeTombstonesOfInserted, [tenant])).length : 0;
  // the planner settings that counting has elsewhere
  for (const setting of ['enable_hashjoin = on', 'enable_sort = off']) await run(`set local ${setting}`);
  const work =
    changed + removed > countedChangesMax
      ? recount({ isChange: true })
      : countChanges((await run(readChanges)).map(toRowChange));
  await countOnPostgres(run, tenant, work);
  const written = { ...growth, total: growth.total - revived * rowBytes.tombstone };
  const room = await countOnPostgres(run, tenant, makeRoom({ last, growth: written, bytesMax }));
  if (room.sweptRevision !== undefined) await run(setSweptRevision, [tenant, room.sweptRevision]);
  const versions = (keepsHistory ? changed - inserted + removed : 0) - room.versions;
  for (const statement of commitRevision({ ...target, ...room, last, versions })) await run(...statement);
  await run(announceChange);
  return counts;
}

// The statements of a replacement, over temporary tables that its transaction drops. Those that
// look rows up get their ids as an array: of a join, a worker of Citus knows neither side's size.

export const lookUpByKey = [
  ...['enable_nestloop = on', 'enable_hashjoin = off', 'enable_mergejoin = off'],
  ...['enable_seqscan = off', 'enable_bitmapscan = off'],
];

/** The opposite of `lookUpByKey`. */
const joinWhole = [
  ...['enable_nestloop = off', 'enable_hashjoin = on', 'enable_mergejoin = on'],
  ...['enable_seqscan = on', 'enable_bitmapscan = on'],
];

export const createTables = [
  `create temp table staged (${defineColumns({ id: 'text collate "C" not null primary key', text: 'text', bigint: 'bigint' })}) on commit drop`,
  `create temp table kept (id text collate "C" not null, ${defineCounted('bigint')}, email text, digest bytea, bytes bigint not null) on commit drop`,
  `create temp table changed (id text collate "C" not null primary key, is_new boolean not null, bytes_before bigint, bytes_after bigint not null, ${defineCounted('bigint')}) on commit drop`,
  `create temp table removed (id text collate "C" not null primary key, bytes_before bigint not null, ${defineCounted('bigint')}) on commit drop`,
];

const stageRows = `insert into staged (${columnNames()})
  select * from ${unnestColumns(1)}
  on conflict (id) do update set ${assignColumns}`;

const keepKeys = `insert into kept (${countedColumns}, email, digest, bytes)
  select ${countedColumns}, email, sha256(convert_to(record, 'UTF8')), ${dataBytes()} from subscription where tenant_id = $1`;

const findChanged = `insert into changed (id, is_new, bytes_before, bytes_after, ${countedNames.join(', ')})
  select t.id, k.id is null, k.bytes, ${dataBytes('t')}, ${countedOf('k')} from staged as t left join kept as k on k.id = t.id
  where k.id is null or k.email is distinct from t.email or k.digest <> sha256(convert_to(t.record, 'UTF8'))`;

const findRemoved = `insert into removed (${countedColumns}, bytes_before)
  select k.id, ${countedOf('k')}, k.bytes from kept as k left join staged as t on t.id = k.id where t.id is null`;

const countDifferences = `select (select count(*) from staged) as staged, (select count(*) from changed) as changed,
  (select count(*) from changed where is_new) as inserted, (select count(*) from removed) as removed,
  (select coalesce(sum(bytes_before), 0) from changed) + (select coalesce(sum(bytes_before), 0) from removed) as bytes_before,
  (select coalesce(sum(bytes_after), 0) from changed) as bytes_after`;

export const keepVersions = `insert into subscription_version (${versionColumns})
  select s.tenant_id, $2::bigint, s.revision, ${columnNames('s')}
  from subscription as s where s.tenant_id = $1
    and s.id = any(array(select id from changed where not is_new union all select id from removed))
  on conflict (tenant_id, id, until_revision) do nothing`;

const writeChanged = `insert into subscription (tenant_id, revision, ${columnNames()})
  select $1, $2::bigint, ${columnNames('t')}
  from staged as t join changed as c on c.id = t.id order by t.created_date, t.id
  on conflict (tenant_id, id) do update set ${assignColumns}, revision = excluded.revision`;

export const removeRows = 'delete from subscription where tenant_id = $1 and id = any(array(select id from removed))';

const insertTombstones = `insert into subscription_tombstone (tenant_id, id, revision) select $1, id, $2::bigint from removed
  on conflict (tenant_id, id) do update set revision = excluded.revision`;

export const removeTombstonesOfInserted =
  'delete from subscription_tombstone where tenant_id = $1 and id = any(array(select id from changed where is_new)) returning id';

const readChanges = `select c.id, not c.is_new as was, ${countedOf('c')}, true as stays, ${newCountedOf('t')}
  from changed as c join staged as t on t.id = c.id
  union all
  select id, true, ${countedNames.join(', ')}, false, ${countedNames.map(() => 'null').join(', ')} from removed`;
