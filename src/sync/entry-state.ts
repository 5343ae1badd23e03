import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isSqliteBusy } from './is-sqlite-busy.ts';

/** What became of a run. */
export interface RunOutcome {
  readonly succeeded: boolean;
  /** Why it failed. */
  readonly message?: string;
  readonly rows?: number;
  readonly revision?: number;
}

/** A run that ended. Instants are ISO 8601 in UTC. */
export interface EndedRun extends RunOutcome {
  /** The instant of the schedule for which it ran; its start if there is no schedule. */
  readonly scheduledFor: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** How many runs failed since the last success, this one included. */
  readonly failures: number;
}

/** The last successful run, and the last failed one if no run succeeded after it. */
export interface LastRuns {
  readonly success: EndedRun | undefined;
  readonly failure: EndedRun | undefined;
}

const schema = `create table if not exists run (succeeded integer primary key, scheduled_for text not null,
  started_at text not null, ended_at text not null, failures integer not null, message text, rows integer,
  revision integer)`;

/** How long to wait for a lock, in milliseconds: `sync status` holds it for less. */
const waitMs = 100;

/**
 * The state of an entry in a file of SQLite. A run holds the file's write lock, which ends with its
 * process however that ends; its outcome is recorded in the same transaction.
 */
export class EntryState {
  readonly #database: DatabaseSync;

  private constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: waitMs });
  }

  /** Begins a run; `undefined` if another process is running the entry. */
  static lock(folder: string, name: string): EntryState | undefined {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const state = new EntryState(fileOf(folder, name));
    try {
      state.#database.exec('begin immediate');
      state.#database.exec(schema);
      return state;
    } catch (error) {
      state.close();
      if (isSqliteBusy(error)) return undefined;
      throw error;
    }
  }

  /** The last runs of an entry, and whether it is running; `fault` if its state cannot be used. */
  static read(folder: string, name: string): LastRuns & { readonly isRunning: boolean; readonly fault?: string } {
    const none = { success: undefined, failure: undefined, isRunning: false };
    const file = fileOf(folder, name);
    if (!existsSync(file)) return none;
    let state: EntryState | undefined;
    try {
      state = new EntryState(file);
      const isRunning = !state.#canLock();
      return { ...state.lastRuns(), isRunning };
    } catch (error) {
      return { ...none, fault: faultOf(folder, name, error) };
    } finally {
      state?.close();
    }
  }

  lastRuns(): LastRuns {
    const exists = this.#database.prepare("select 1 from sqlite_schema where name = 'run'").get() !== undefined;
    const found = exists ? this.#database.prepare('select * from run').all() : [];
    const of = (succeeded: number) => found.filter((row) => row.succeeded === succeeded).map(toRun)[0];
    return { success: of(1), failure: of(0) };
  }

  /** Records the outcome of the run, and ends it. */
  commit(run: Omit<EndedRun, 'failures'>): void {
    const failures = run.succeeded ? 0 : (this.lastRuns().failure?.failures ?? 0) + 1;
    this.#database.exec(run.succeeded ? 'delete from run' : 'delete from run where succeeded = 0');
    this.#database
      .prepare('insert into run values (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        Number(run.succeeded),
        run.scheduledFor,
        run.startedAt,
        run.endedAt,
        failures,
        run.message ?? null,
        run.rows ?? null,
        run.revision ?? null,
      );
    this.#database.exec('commit');
  }

  /** Ends the run without an outcome if none was recorded. */
  close(): void {
    this.#database.close(); // rolls back
  }

  #canLock(): boolean {
    try {
      this.#database.exec('begin immediate; rollback');
      return true;
    } catch (error) {
      if (isSqliteBusy(error)) return false;
      throw error;
    }
  }
}

/** The sentence about a state that cannot be opened, read or written. */
export const faultOf = (folder: string, name: string, error: unknown): string =>
  `Cannot use '${fileOf(folder, name)}': it must be a file that \`subreport sync run\` has written and can write, with room to grow; if it is damaged, remove it, and the entry runs once more: current value is: ${(error as Error).message}`;

const fileOf = (folder: string, name: string): string => join(folder, `${name}.db`);

const toRun = (row: Record<string, unknown>): EndedRun => ({
  succeeded: row.succeeded === 1,
  scheduledFor: String(row.scheduled_for),
  startedAt: String(row.started_at),
  endedAt: String(row.ended_at),
  failures: Number(row.failures),
  ...(row.message !== null && { message: String(row.message) }),
  ...(row.rows !== null && { rows: Number(row.rows) }),
  ...(row.revision !== null && { revision: Number(row.revision) }),
});
