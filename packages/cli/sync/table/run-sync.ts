import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type ChangesPage, isRemoved, type SubreportClient } from '../../../client/index.ts';
import { SyncError } from '../source/error.ts';
import {
  cancelIfFailed,
  currentPosition,
  hasMoved,
  linesOf,
  requireRevision,
  revisionOf,
  type Source,
} from '../source/read-source.ts';
import { type Row, rowOf } from '../source/record-row.ts';
import type { Changes, Destination, Position } from './destination.ts';
import { compareRows, describeDifferences } from './verify-copy.ts';

/** What a sync did. */
export interface SyncResult extends Position {
  /** Number of records that were written, also by a whole report. */
  readonly written: number;
  readonly removed: number;
  /** Whether the whole report was read. */
  readonly reloaded: boolean;
}

interface SyncOptions {
  readonly signal?: AbortSignal;
  /** Whether to compare each record with the report before the commit, not only their number. */
  readonly compare?: boolean;
  /** Called with the records written so far. */
  readonly onProgress?: (written: number) => void;
}

/**
 * Brings a destination in step with its report: reads the whole report if there is no copy yet or
 * the change token is no longer valid, then all changes. Commits once, when the copy has as many
 * records as the report at the same revision. Throws `SyncError`, or an error of the client library
 * or the destination; the destination is then unchanged.
 */
export async function runSync(
  source: Source,
  destination: Destination,
  options: SyncOptions = {},
): Promise<SyncResult> {
  try {
    const position = await destination.begin(source);
    return await new Sync(source.client, destination, options).bringInStep(position?.token);
  } finally {
    await destination.close();
  }
}

/**
 * Maximum number of times that a report is read again because it keeps changing or its tokens
 * become invalid.
 */
const attemptsMax = 6;

class Sync {
  readonly #client: SubreportClient;
  readonly #destination: Destination;
  readonly #options: SyncOptions;
  readonly #call: { readonly signal?: AbortSignal };
  #written = 0;
  #removed = 0;
  #reloaded = false;
  /** The copy has records of this revision, and must not be called one of an older. */
  #leastRevision = 0;

  constructor(client: SubreportClient, destination: Destination, options: SyncOptions) {
    this.#client = client;
    this.#destination = destination;
    this.#options = options;
    this.#call = options.signal === undefined ? {} : { signal: options.signal };
  }

  async bringInStep(token: string | undefined): Promise<SyncResult> {
    for (let attempt = 1; ; attempt += 1) {
      const since = token ?? (await this.#load());
      try {
        const reached = await this.#follow(since);
        if (this.#options.compare === true) await this.#compareAt(reached.revision);
        const position = { ...reached, syncedAt: new Date().toISOString() };
        await this.#destination.commit(position);
        return { ...position, written: this.#written, removed: this.#removed, reloaded: this.#reloaded };
      } catch (error) {
        const isStale = error instanceof ApiError && error.code === 'RESYNC_REQUIRED';
        if (!isStale || attempt === attemptsMax) throw error;
        token = undefined;
      }
    }
  }

  /** Replaces the copy with the whole report, and returns a change token from before it. */
  async #load(): Promise<string> {
    const { token } = await currentPosition(this.#client, this.#call);
    const report = await this.#client.export({}, { format: 'ndjson', ...this.#call });
    this.#reloaded = true;
    [this.#written, this.#removed] = [0, 0];
    const { onProgress } = this.#options;
    const count = (rows: number): void => {
      this.#written += rows;
      onProgress?.(this.#written);
    };
    await cancelIfFailed(report, () => {
      this.#leastRevision = requireRevision(report.headers);
      return this.#destination.resync(rowsOf(report, count));
    });
    return token;
  }

  /** Applies all changes until the copy has as many records as the report at its revision. */
  async #follow(since: string): Promise<Omit<Position, 'syncedAt'>> {
    let [token, found]: [string, string] = [since, 'none'];
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const reached = await this.#applyChanges(token);
      token = reached.token;
      if (reached.revision >= this.#leastRevision) {
        const rows = await this.#destination.count();
        if (rows === undefined) return reached;
        const total = await totalAt(this.#client, reached.revision, this.#call);
        if (total === rows) return { ...reached, rows };
        found = `${rows}, and the report ${total ?? 'changes too often to be counted'}`;
      }
      // for a second, a service of several processes may respond with the previous revision
      if (attempt < attemptsMax) await sleep(50 * 2 ** (attempt - 1), undefined, this.#call);
    }
    throw new SyncError(
      'NOT_EQUAL',
      `Cannot complete the copy: it must have as many records as the report at the same revision; nothing was changed, and --reload loads it again: current value is ${found}`,
    );
  }

  /** Applies the changes after a token. Returns the token after them and its revision. */
  async #applyChanges(since: string): Promise<{ readonly token: string; readonly revision: number }> {
    let [token, revision] = [since, 0];
    for await (const page of this.#client.changes(since, this.#call)) {
      const changes = toChanges(page);
      await this.#destination.apply(changes);
      this.#written += changes.rows.length;
      this.#removed += changes.removed.length;
      if (page.changes.length > 0) this.#options.onProgress?.(this.#written);
      [token, revision] = [page.next, revisionOf(page)];
    }
    return { token, revision };
  }

  /** Throws unless the copy equals the report at a revision. */
  async #compareAt(revision: number): Promise<void> {
    const rows = this.#destination.rows?.();
    if (rows === undefined) return;
    const found = await compareRows({ client: this.#client }, rows, revision, this.#call);
    if (found.differences === 0) return;
    throw new SyncError(
      'NOT_EQUAL',
      `Cannot complete the copy: it must equal the report at revision ${revision}; nothing was changed: current value is ${describeDifferences(found)}`,
    );
  }
}

/** Number of records of the report at a revision; `undefined` if it can no longer be read. */
async function totalAt(
  client: SubreportClient,
  revision: number,
  call: { readonly signal?: AbortSignal },
): Promise<number | undefined> {
  try {
    return (await client.summary({ 'as-of': revision, by: 'status' }, call)).total;
  } catch (error) {
    if (hasMoved(error)) return undefined;
    throw error;
  }
}

/** The rows of an export; `onRows` is called when a batch of them has been written. */
async function* rowsOf(
  report: AsyncIterable<Uint8Array>,
  onRows: (count: number) => void,
): AsyncGenerator<readonly Row[], void, undefined> {
  for await (const lines of linesOf(report)) {
    yield lines.map(rowOf);
    onRows(lines.length);
  }
}

const toChanges = ({ changes }: ChangesPage): Changes => ({
  rows: changes.filter((change) => !isRemoved(change)).map((record) => rowOf(JSON.stringify(record))),
  removed: changes.filter(isRemoved).map(({ id }) => id),
});
