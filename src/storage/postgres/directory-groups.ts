import { inStatement, type TracedDatabase } from '../../tracing/statement-span.ts';
import { createGroups } from '../groups.ts';
import type { DirectoryStatement, Row } from '../store.ts';
import { runBatch } from './batch.ts';
import type { PostgresConnections } from './connections.ts';
import { isRolledBack } from './error.ts';

/** A statement that may share a batch with others. */
interface GroupedStatement {
  readonly statement: DirectoryStatement;
  /** A time of `performance.now()`, or `undefined` for the time limit of the store. */
  readonly deadline: number | undefined;
}

/** Runs a statement about tenants, clients or keys, together with others that wait. */
export interface DirectoryGroups {
  readonly read: (grouped: GroupedStatement) => Promise<readonly Row[]>;
  readonly write: (grouped: GroupedStatement) => Promise<readonly Row[]>;
}

interface GroupingParts {
  readonly connections: PostgresConnections;
  readonly traced: TracedDatabase;
  readonly nameOf: (text: string) => string;
}

/** Creates the groups of a store, those that read and those that write. */
export function createDirectoryGroups({ connections, traced, nameOf }: GroupingParts): DirectoryGroups {
  const inGroups = (reads: boolean) =>
    createGroups((items: readonly GroupedStatement[]) => {
      const batch = items.map(({ statement: { sql, values } }) => ({ name: nameOf(sql), text: sql, values }));
      const texts = batch.map(({ text }) => text);
      // without BEGIN, the statements of a batch are one transaction
      return connections.use((client) => inStatement(traced, texts, () => runBatch(client, batch)), {
        deadline: latestDeadline(items),
        reads,
      });
    }, isRolledBack);
  return { read: inGroups(true), write: inGroups(false) };
}

/** The time limit of a group: no statement is aborted before its own deadline. */
function latestDeadline(items: readonly GroupedStatement[]): number | undefined {
  let latest = 0;
  for (const { deadline } of items) {
    if (deadline === undefined) return undefined;
    latest = Math.max(latest, deadline);
  }
  return latest;
}
