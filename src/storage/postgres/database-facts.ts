import type pg from 'pg';
import { hasCitus } from './citus.ts';
import { bypassesRowSecurity } from './role.ts';

/** What a tenant's transaction must know about the database. */
interface DatabaseFacts {
  /** Whether it must switch to `tenantRole`. */
  readonly stepDown: boolean;
  /** Whether the database is a Citus cluster. */
  readonly isDistributed: boolean;
}

/** Makes a function that queries the facts once, and again after a failure. */
export function createFactsReader(): (client: pg.ClientBase) => Promise<DatabaseFacts> {
  let known: Promise<DatabaseFacts> | undefined;
  return (client) => {
    known ??= readFacts(client).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

async function readFacts(client: pg.ClientBase): Promise<DatabaseFacts> {
  const [stepDown, isDistributed] = await Promise.all([bypassesRowSecurity(client), hasCitus(client)]);
  return { stepDown, isDistributed };
}
