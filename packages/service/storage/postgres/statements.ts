import { hash } from 'node:crypto';
import type pg from 'pg';
import { inStatement } from '../../tracing/statement-span.ts';
import type { Row, TenantId, TenantReader, TenantStatement } from '../store.ts';
import { bypassesRowSecurity, hasCitus } from './database-facts.ts';
import { beginReading, tenantOpening, tenantSettings } from './session.ts';
import { commit } from './settle-commit.ts';
import { type BatchStatement, runBatch } from './wire/batch.ts';
import { socketOf } from './wire/driver.ts';

/** Runs one statement in the transaction of a change. */
export type RunStatement = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** A statement that reads a tenant's rows. */
interface OnceRead {
  readonly tenant: TenantId;
  readonly statement: TenantStatement;
  /** Whether it takes a short time that does not depend on the number of rows. */
  readonly isBounded: boolean;
}

/** What a tenant's transaction must know about the database, by its catalogs. */
interface DatabaseFacts {
  /** Whether it must switch to `tenantRole`. */
  readonly stepDown: boolean;
  /** Whether the database is a Citus cluster. */
  readonly isDistributed: boolean;
}

/** Maximum prepared statements per connection, the same as on the embedded store. */
const preparedMax = 512;

/** Sends statements and tenants' transactions over the connections of a store. */
export class Statements {
  #facts: DatabaseFacts | undefined;
  readonly #names = new Map<string, string>();

  prepare(text: string, values: BatchStatement['values'] = []): BatchStatement {
    return { name: this.#nameOf(text), text, values };
  }

  /** Runs a statement by itself; several may be under way on a connection. */
  async query(client: pg.ClientBase, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const name = this.#nameOf(text);
    const { rows } = await inStatement('postgresql', text, () =>
      client.query({ ...(name !== '' && { name }), text, values: [...values] }),
    );
    return rows;
  }

  /** Runs statements as one message, with one Sync. */
  run(client: pg.ClientBase, statements: readonly BatchStatement[]): Promise<readonly (readonly Row[])[]> {
    const texts = statements.map(({ text }) => text);
    return inStatement('postgresql', texts, () => runBatch(client, statements));
  }

  /** Sends a statement and what surrounds it as one message; returns its rows. */
  async readOnce(client: pg.ClientBase, { tenant, statement, isBounded }: OnceRead): Promise<readonly Row[]> {
    const { stepDown, isDistributed } = this.#facts ?? (await this.#readFacts(client));
    const opening = isDistributed
      ? tenantOpening(beginReading, tenant, stepDown)
      : [tenantSettings(tenant, stepDown, isBounded)];
    const results = await this.run(client, [
      ...opening.map(([text, values]) => this.prepare(text, values)),
      this.prepare(statement.sql, [tenant, ...statement.values]),
      ...(isDistributed ? [this.prepare('commit')] : []),
    ]);
    return results[opening.length] ?? [];
  }

  /** Runs `work` with a reader of one snapshot of a tenant. */
  read<T>(client: pg.ClientBase, tenant: TenantId, work: (reader: TenantReader) => Promise<T>): Promise<T> {
    const all: TenantReader['all'] = async (sql, values = []) =>
      (await this.run(client, [this.prepare(sql, [tenant, ...values])]))[0] ?? [];
    return this.inTenant(client, beginReading, tenant, () => work({ all }));
  }

  /**
   * Runs a transaction in which row-level security makes one tenant's rows visible, whatever role
   * we connect as.
   */
  async inTenant<T>(client: pg.ClientBase, begin: string, tenant: TenantId, work: () => Promise<T>): Promise<T> {
    const facts = this.#facts ?? (await this.#readFacts(client));
    // the opening and the first statement of the work are one write, which wakes the server once
    const socket = socketOf(client);
    socket.cork();
    try {
      const opening = tenantOpening(begin, tenant, facts.stepDown).map(([text, values]) => this.prepare(text, values));
      // a read has its rows, whatever a node of Citus says of the end
      const end = begin === beginReading ? () => client.query('commit') : commit;
      return inTransaction(client, [this.run(client, opening)], work, end);
    } finally {
      socket.uncork();
    }
  }

  async #readFacts(client: pg.ClientBase): Promise<DatabaseFacts> {
    const [stepDown, isDistributed] = await Promise.all([bypassesRowSecurity(client), hasCitus(client)]);
    this.#facts = { stepDown, isDistributed };
    return this.#facts;
  }

  /**
   * The name under which each connection prepares a text. It is derived from the SQL, because an
   * old pooler may run a statement that another process prepared under the same name. It is '' once
   * there are too many, because each takes memory on the server for every connection.
   */
  #nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= preparedMax) return '';
    const name = hash('sha256', text, 'base64url');
    this.#names.set(text, name);
    return name;
  }
}

/**
 * Runs `work` after the opening statements, which have been sent already, and commits. After any
 * failure, the caller closes the connection, which rolls the transaction back.
 */
export async function inTransaction<T>(
  client: pg.ClientBase,
  opening: readonly Promise<unknown>[],
  work: () => Promise<T>,
  end: (client: pg.ClientBase) => Promise<unknown> = commit,
): Promise<T> {
  const [result] = await Promise.all([work(), ...opening]);
  await end(client);
  return result;
}
