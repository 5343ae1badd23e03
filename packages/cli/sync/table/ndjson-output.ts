import { existsSync } from 'node:fs';
import { printableJson } from '../../../terminal/printable.ts';
import { SyncError } from '../source/error.ts';
import type { SourceIdentity } from '../source/read-source.ts';
import { lineOf, type Row } from '../source/record-row.ts';
import { StateFile, type StateKind } from '../source/state-file.ts';
import type { Changes, Destination, Position } from './destination.ts';

/** The state file: the position, and whose report it is, as JSON. */
type StoredPosition = Position & SourceIdentity;

const kind: StateKind = {
  applicationId: 0x73726e64,
  schema: 'create table stream (only integer primary key check (only = 1), position text not null) strict;',
  cannot: 'Cannot continue from',
  writers: 'to stdout:ndjson',
};

/**
 * Changes as lines for another program: records and tombstones as in the change feed, before a
 * whole report `{"reset":true}`, and at the end `{"next":…,"revision":…}`. A stream without that
 * last line is incomplete. The state file is written after it.
 */
export class NdjsonOutput implements Destination {
  readonly #write: (text: string) => Promise<void>;
  readonly #stateFile: string | undefined;
  readonly #reload: boolean;
  #source: SourceIdentity | undefined;
  #state: StateFile | undefined;

  /**
   * @param stateFile keeps the position between syncs; without it, each is a whole report
   * @param reload whether to write a whole report, whatever position the state file has
   */
  constructor(write: (text: string) => Promise<void>, stateFile?: string, reload = false) {
    this.#write = (text) => write(printableJson(text));
    this.#stateFile = stateFile;
    this.#reload = reload;
  }

  async begin({ service, clientId }: SourceIdentity): Promise<Position | undefined> {
    this.#source = { service, clientId };
    // a run that ends without a commit creates no file
    if (this.#stateFile === undefined || !existsSync(this.#stateFile)) return undefined;
    this.#state = StateFile.open(this.#stateFile, kind);
    const [row] = this.#state.all('select position from stream');
    if (row === undefined) return undefined;
    const stored = JSON.parse(String(row.position)) as StoredPosition;
    if (stored.service === service && stored.clientId === clientId) return this.#reload ? undefined : stored;
    throw new SyncError(
      'OTHER_SOURCE',
      `Cannot continue from '${this.#stateFile}': it must be the state of a sync for the same client of the same service; name another file, such as --state sync-2.db: current value is that of '${stored.clientId}' of ${stored.service}`,
    );
  }

  async resync(batches: AsyncIterable<readonly Row[]>): Promise<void> {
    await this.#write('{"reset":true}\n');
    for await (const rows of batches) await this.#write(linesOf(rows));
  }

  apply({ rows, removed }: Changes): Promise<void> {
    const tombstones = removed.map((id) => `${JSON.stringify({ id, removed: true })}\n`);
    return this.#write(linesOf(rows) + tombstones.join(''));
  }

  async count(): Promise<undefined> {
    return undefined;
  }

  async commit(position: Position): Promise<void> {
    await this.#write(`${JSON.stringify({ next: position.token, revision: position.revision })}\n`);
    if (this.#stateFile === undefined) return;
    this.#state ??= StateFile.open(this.#stateFile, kind);
    const stored: StoredPosition = { ...(this.#source as SourceIdentity), ...position };
    this.#state.all('insert or replace into stream values (1, ?)', JSON.stringify(stored));
  }

  async close(): Promise<void> {
    this.#state?.close(); // the output stays open
  }
}

const linesOf = (rows: readonly Row[]): string => rows.map((row) => `${lineOf(row)}\n`).join('');
