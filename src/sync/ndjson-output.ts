import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Changes, Destination, Position, SourceIdentity, WholeReport } from './destination.ts';
import { SyncError } from './error.ts';
import { lineOf } from './record-row.ts';

/** The state file: the position, and whose report it is. */
type StoredPosition = Position & SourceIdentity;

/**
 * Changes as lines for another program: records and tombstones as in the change feed, before a
 * whole report `{"reset":true}`, and at the end `{"next":…,"revision":…}`. A stream without that
 * last line is incomplete. The state file is written after it.
 */
export class NdjsonOutput implements Destination {
  readonly #write: (text: string) => Promise<void>;
  readonly #stateFile: string | undefined;
  #source: SourceIdentity | undefined;

  /** @param stateFile keeps the position between syncs; without it, each is a whole report */
  constructor(write: (text: string) => Promise<void>, stateFile?: string) {
    this.#write = write;
    this.#stateFile = stateFile;
  }

  async begin(source: SourceIdentity): Promise<Position | undefined> {
    this.#source = { service: source.service, clientId: source.clientId };
    const stored = this.#stateFile === undefined ? undefined : readState(this.#stateFile);
    if (stored === undefined) return undefined;
    if (stored.service === source.service && stored.clientId === source.clientId) return stored;
    throw new SyncError(
      'OTHER_SOURCE',
      `Cannot continue from '${this.#stateFile}': it must be the state of a sync for the same client of the same service; name another file, such as --state sync-2.json: current value is that of '${stored.clientId}' of ${stored.service}`,
    );
  }

  async resync(report: WholeReport): Promise<void> {
    await this.#write('{"reset":true}\n');
    for await (const lines of report.lines()) await this.#write(lines.map((line) => `${line}\n`).join(''));
  }

  apply({ rows, removed }: Changes): Promise<void> {
    const tombstones = removed.map((id) => `${JSON.stringify({ id, removed: true })}\n`);
    return this.#write(rows.map((row) => `${lineOf(row)}\n`).join('') + tombstones.join(''));
  }

  async count(): Promise<undefined> {
    return undefined;
  }

  async commit(position: Position): Promise<void> {
    await this.#write(`${JSON.stringify({ next: position.token, revision: position.revision })}\n`);
    if (this.#stateFile !== undefined)
      writeState(this.#stateFile, { ...(this.#source as SourceIdentity), ...position });
  }

  async close(): Promise<void> {
    // the output stays open
  }
}

function readState(file: string): StoredPosition | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const state = JSON.parse(text) as StoredPosition;
    if (typeof state.token === 'string' && typeof state.service === 'string') return state;
  } catch {
    // said below
  }
  throw new SyncError(
    'DESTINATION_INVALID',
    `Cannot continue from '${file}': it must be a state file that sync wrote, or not exist, such as --state sync.json`,
  );
}

/** Replaces the file; another process sees the old content or the new one. */
function writeState(file: string, position: StoredPosition): void {
  const part = `${file}.${randomBytes(4).toString('hex')}`;
  writeFileSync(part, `${JSON.stringify(position)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(part, file);
}
