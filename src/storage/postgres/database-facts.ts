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

/** The facts of a store's database. */
export class DatabaseFactsReader {
  #reading: Promise<DatabaseFacts> | undefined;
  #known: DatabaseFacts | undefined;

  /** The facts, once they have been queried. */
  get known(): DatabaseFacts | undefined {
    return this.#known;
  }

  /** Queries the facts once, and again after a failure. */
  read(client: pg.ClientBase): Promise<DatabaseFacts> {
    this.#reading ??= readFacts(client).then(
      (facts) => {
        this.#known = facts;
        return facts;
      },
      (error: unknown) => {
        this.#reading = undefined;
        throw error;
      },
    );
    return this.#reading;
  }
}

async function readFacts(client: pg.ClientBase): Promise<DatabaseFacts> {
  const [stepDown, isDistributed] = await Promise.all([bypassesRowSecurity(client), hasCitus(client)]);
  return { stepDown, isDistributed };
}
