import type { AppliedMigration } from '../migrations.ts';
import { deferredIndexes, type RecordIndex, recordIndexes, statisticsStatements } from '../record-indexes.ts';
import type { DeferredIndexes } from '../store.ts';
import type { SqliteConnection } from './connection.ts';
import type { StoreLock } from './use-lock.ts';
import type { SqliteWriter } from './writer.ts';

interface Parts {
  readonly connection: SqliteConnection;
  readonly writer: SqliteWriter;
  readonly use: StoreLock;
  readonly applied: readonly AppliedMigration[];
  /** How long a statement waits for another process's write: a time of `performance.now()`. */
  readonly deadline: () => number;
}

/** The indexes of the records, which a first load leaves out until it ends. */
export class SqliteIndexes {
  readonly #parts: Parts;
  readonly #all: readonly RecordIndex[];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#all = recordIndexes('sqlite', parts.applied);
  }

  missing(): readonly RecordIndex[] {
    const rows = this.#parts.connection.all("select name from sqlite_master where tbl_name = 'subscription'", []);
    const present = new Set(rows.map(({ name }) => name));
    return this.#all.filter(({ name }) => !present.has(name));
  }

  async build(onStart?: (names: readonly string[]) => void): Promise<void> {
    const missing = this.missing();
    if (missing.length === 0) return;
    onStart?.(missing.map(({ name }) => name));
    for (const { sql } of missing) await this.#define(sql);
  }

  /** Reads without indexes would block a service, so no other process may use the store. */
  async defer(): Promise<DeferredIndexes | undefined> {
    const { use } = this.#parts;
    if (!this.#canDefer() || !use.takeExclusive()) return undefined;
    try {
      if (this.#canDefer()) {
        await this.#drop();
        return { build: () => this.build().finally(() => use.share()) };
      }
    } catch (error) {
      use.share();
      throw error;
    }
    use.share();
    return undefined;
  }

  /** Whether no tenant has records, or an interrupted load continues. */
  #canDefer(): boolean {
    return this.#all.length > 0 && (this.#isEmpty() || this.missing().length > 0);
  }

  #isEmpty(): boolean {
    return this.#parts.connection.all('select 1 from subscription limit 1', []).length === 0;
  }

  async #drop(): Promise<void> {
    if (!this.#isEmpty()) return;
    const drops = deferredIndexes(this.#all).map((name) => `drop index if exists ${name}`);
    await this.#define([...drops, ...statisticsStatements(this.#parts.applied)].join(';'));
  }

  #define(sql: string): Promise<void> {
    return this.#parts.writer.define(sql, this.#parts.deadline());
  }
}
