import { countChanges, countedChangesMax, recount, toRowChange } from '../counts/count-changes.ts';
import type { ReplaceCounts, Replacement, Row, TenantId } from '../store.ts';
import { setRevision } from '../subscription-row.ts';
import { removeResumePoint } from '../tables/resume-point.ts';
import { announceChange, begin, columnArrays, lockTenant, nextRevision } from './change-sql.ts';
import { close, connect, createDedicatedClient } from './connect.ts';
import { toStorageError } from './error.ts';
import {
  countDifferences,
  createTables,
  findChanged,
  findRemoved,
  insertTombstones,
  keepKeys,
  lookUpByKey,
  readChanges,
  removeRows,
  removeTombstonesOfInserted,
  stageRows,
  writeChanged,
} from './replacement-sql.ts';
import { bypassesRowSecurity, tenantRole } from './role.ts';
import { countOnPostgres } from './run-count.ts';
import { distributedOption, noTimeLimit, tenantRights } from './session.ts';

/** Timeout of one statement in milliseconds: enough for some 100 million records. */
export const statementMsMax = 3_600_000;

/**
 * Opens a replacement on a dedicated connection with long-running statements. Rows are collected in
 * a temporary table and compared with the stored keys, and only differences are written. Only the
 * comparison reads the tenant's table, so that a distributed engine can run it. Everything is one
 * transaction, because a pooler could continue the next one in another session, without the
 * temporary tables.
 */
export async function openPostgresReplacement(url: string, tenant: TenantId): Promise<Replacement> {
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
    async finish(dryRun) {
      await run('analyze staged');
      for (const [text, values] of tenantRights(tenant, stepDown)) await run(text, values);
      const counts = await apply(run, tenant, dryRun);
      await run(dryRun ? 'rollback' : 'commit');
      return counts;
    },
    close: () => close(client), // an open transaction is rolled back with its session
  };
}

type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

async function apply(run: Run, tenant: TenantId, dryRun: boolean): Promise<ReplaceCounts> {
  const revision = nextRevision(await run(lockTenant, [tenant]));
  // the temporary tables are joined completely, and the planner has no statistics of them
  await run('set local enable_nestloop = off');
  await run(keepKeys, [tenant]);
  await run(findChanged);
  await run(findRemoved);
  const [counted] = await run(countDifferences);
  const [staged, inserted, changed, removed] = ['staged', 'inserted', 'changed', 'removed'].map((name) =>
    Number(counted?.[name]),
  ) as [number, number, number, number];
  const counts = { inserted, updated: changed - inserted, unchanged: staged - changed, removed };
  if (dryRun) return counts;
  // an earlier import's resume point does not describe the replaced records
  await run(removeResumePoint, [tenant]);
  if (changed + removed === 0) return counts;
  await run(writeChanged, [tenant, revision]);
  // Rows are looked up by key from here on. Both sides of each join have an index, so that the cost
  // stays n log n even if the planner takes the tenant for a small one: without these settings,
  // removing 25,000 rows took 170 s of scans instead of 1 s.
  for (const setting of lookUpByKey) await run(`set local ${setting}`);
  if (removed > 0) {
    await run(removeRows, [tenant]);
    await run(insertTombstones, [tenant, revision]);
  }
  if (inserted > 0) await run(removeTombstonesOfInserted, [tenant]);
  await run('set local enable_hashjoin = on'); // the planner settings that counting has elsewhere
  const work =
    changed + removed > countedChangesMax ? recount() : countChanges((await run(readChanges)).map(toRowChange));
  await countOnPostgres(run, tenant, work);
  await run(setRevision, [tenant, revision]);
  await run(announceChange);
  return counts;
}
