import { commitChange } from '../commit/commit-change.ts';
import { loadStaged, type StagedOptions } from '../commit/load-staged.ts';
import type { Row, StagedLoad } from '../store.ts';
import { assignColumns, columnNames } from '../subscription-row.ts';
import { begin, columnArrays, unnestColumns } from './change-sql.ts';
import { createTables, sendToNode } from './compare-staged.ts';
import { close, connect, createDedicatedClient } from './connect.ts';
import { bypassesRowSecurity, hasCitus } from './database-facts.ts';
import { toStorageError } from './error.ts';
import { runOnPostgres } from './run-change.ts';
import { distributedOption, noTimeLimit, tenantRights, tenantRole } from './session.ts';
import { commit, settleCommit } from './settle-commit.ts';
import { type ChangeParts, readLocked } from './tenant-changes.ts';

/** Timeout of one statement in milliseconds: enough for some 100 million records. */
const statementMsMax = 3_600_000;

/**
 * Opens a staged load on a dedicated connection with long-running statements. Rows are staged in a
 * temporary table and compared with the stored keys, and only differences are written. Only the
 * comparison reads the tenant's table, so that a distributed engine can run it. Everything is one
 * transaction, because a pooler could continue the next one in another session, without the
 * temporary tables.
 */
export async function openPostgresStagedLoad(parts: ChangeParts, target: StagedOptions): Promise<StagedLoad> {
  const { url } = parts;
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
  let [stepDown, isDistributed] = [false, false];
  try {
    await connect(client, url);
    [stepDown, isDistributed] = await Promise.all([bypassesRowSecurity(client), hasCitus(client)]);
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
      const session = { run: isDistributed ? sendToNode(run) : run, tenant };
      const write = () => runOnPostgres(session, commitChange(loadStaged(guard, target), target));
      // a dry run has written too, so that it refuses what the load would refuse
      if (dryRun) {
        const { result } = await write();
        await run('rollback');
        return result;
      }
      return settleCommit(
        async (onReady) => {
          const counts = onReady(await write());
          await commit(client).catch((error: unknown) => Promise.reject(toStorageError(error)));
          return counts;
        },
        () => readLocked(parts, tenant),
      );
    },
    close: () => close(client), // an open transaction is rolled back with its session
  };
}

const stageRows = `insert into staged (${columnNames()})
  select * from ${unnestColumns(1)}
  on conflict (id) do update set ${assignColumns}`;
