import { readFileSync } from 'node:fs';
import type { Changes, Destination, Position, SourceIdentity, WholeReport } from './destination.ts';
import { SyncError } from './error.ts';
import { lineOf } from './record-row.ts';

/** The stream of both protocols. */
export const streamName = 'subscriptions';

/** What a run of a protocol leaves for the next one. */
export interface ProtocolState {
  readonly service: string;
  readonly client_id: string;
  /** The change token to continue from. */
  readonly token: string;
  /** The revision that the records before this state had. */
  readonly revision: number;
  /** Whether the whole report was being read: it must be read again, before the changes. */
  readonly loading?: true;
  /** The version of the table (`--activate-version`). */
  readonly version?: number;
}

/** How a protocol writes the messages of one run, each with its line feed. */
export interface Protocol {
  readonly name: string;
  /** Whether a whole report replaces what was written before: then no removal is missed. */
  readonly replaces: boolean;
  /** How a copy is emptied that has missed removals. */
  readonly emptyBy: string;
  /** Finds the state in a parsed file; `undefined` if it has none. */
  stateIn(file: unknown): unknown;
  begin(): string;
  /** A record, whose JSON is `line`. */
  records(lines: readonly string[], revision: number, version: number | undefined): string;
  removals(ids: readonly string[], revision: number, version: number | undefined): string;
  /** After a whole report. */
  replaced(version: number): string;
  /** @param count records and removals since the state before */
  state(state: ProtocolState, count: number): string;
  end(): string;
  failed(error: Error, isUsage: boolean): string;
}

/**
 * Changes as the messages of a protocol. The reader of the messages keeps the state, so none is
 * written to a file. Before a whole report there is a state that says so: if the run ends in the
 * middle, the next one reads the report again, and all changes since the first one began, so that
 * no removal is missed.
 */
export class ProtocolOutput implements Destination {
  readonly #protocol: Protocol;
  readonly #write: (text: string) => Promise<void>;
  readonly #stateFile: string | undefined;
  readonly #reload: boolean;
  #source: SourceIdentity | undefined;
  #stored: ProtocolState | undefined;
  /** Records and removals since the last state. */
  #count = 0;
  #isLoaded = false;

  /**
   * @param stateFile the last state; `-` is standard input
   * @param reload whether to write the whole report again, and the changes since the state
   */
  constructor(protocol: Protocol, write: (text: string) => Promise<void>, stateFile?: string, reload = false) {
    this.#reload = reload;
    this.#protocol = protocol;
    this.#write = write;
    this.#stateFile = stateFile;
  }

  async begin(source: SourceIdentity): Promise<(Position & { mustReload: boolean }) | undefined> {
    this.#source = source;
    const stored = this.#stateFile === undefined ? undefined : this.#readState(this.#stateFile);
    if (stored !== undefined && (stored.service !== source.service || stored.client_id !== source.clientId))
      throw new SyncError(
        'OTHER_SOURCE',
        `Cannot continue from the state: it must be that of the same client and service; begin without --state: current value is that of '${stored.client_id}' of ${stored.service}`,
      );
    this.#stored = stored === undefined || !this.#reload ? stored : { ...stored, loading: true };
    await this.#write(this.#protocol.begin());
    const lacksVersion = this.#protocol.replaces && stored?.version === undefined;
    if (stored === undefined || lacksVersion) return undefined;
    const mustReload = this.#stored?.loading === true;
    // a new version replaces what was written of the one before
    if (mustReload && this.#protocol.replaces) return undefined;
    return { token: stored.token, revision: stored.revision, syncedAt: '', mustReload };
  }

  async resync({ token, revision, lines: batches }: WholeReport): Promise<void> {
    const { replaces } = this.#protocol;
    const mayMissRemovals = this.#isLoaded || (this.#stored !== undefined && this.#stored.loading !== true);
    if (!replaces && mayMissRemovals) throw this.#cannotReplace();
    const version = replaces ? Math.max(Date.now(), (this.#stored?.version ?? 0) + 1) : this.#stored?.version;
    const since = replaces ? token : (this.#stored?.token ?? token);
    await this.#writeState({ token: since, revision, version, loading: true });
    this.#isLoaded = true;
    for await (const lines of batches()) {
      this.#count += lines.length;
      await this.#write(this.#protocol.records(lines, revision, version));
    }
  }

  apply({ rows, removed, revision }: Changes): Promise<void> {
    this.#count += rows.length + removed.length;
    const version = this.#stored?.version;
    const records = this.#protocol.records(rows.map(lineOf), revision, version);
    return this.#write(records + this.#protocol.removals(removed, revision, version));
  }

  async count(): Promise<undefined> {
    return undefined;
  }

  async commit({ token, revision }: Position): Promise<void> {
    const { version, loading } = this.#stored ?? {};
    if (loading === true && this.#protocol.replaces && version !== undefined)
      await this.#write(this.#protocol.replaced(version));
    await this.#writeState({ token, revision, version });
    await this.#write(this.#protocol.end());
  }

  async fail(error: Error): Promise<void> {
    const isUsage = error instanceof SyncError && ['OTHER_SOURCE', 'DESTINATION_CHANGED'].includes(error.code);
    await this.#write(this.#protocol.failed(error, isUsage));
  }

  async close(): Promise<void> {
    // the output stays open
  }

  async #writeState(given: Pick<ProtocolState, 'token' | 'revision' | 'loading'> & { version: number | undefined }) {
    const { service, clientId } = this.#source as SourceIdentity;
    const { version, ...position } = given;
    this.#stored = { service, client_id: clientId, ...position, ...(version !== undefined && { version }) };
    await this.#write(this.#protocol.state(this.#stored, this.#count));
    this.#count = 0;
  }

  /** Removals since the lost token cannot be written: the reader would keep their records. */
  #cannotReplace(): SyncError {
    return new SyncError(
      'DESTINATION_CHANGED',
      `Cannot continue from the state: its change token must still be valid, or removed records would stay in the copy; ${this.#protocol.emptyBy}, and begin without --state: current value is a token that the service has ended`,
    );
  }

  #readState(file: string): ProtocolState | undefined {
    const text = readText(file).trim();
    if (text === '') return undefined;
    const parsed = parseJson(text) ?? parseJson(text.split('\n').at(-1) ?? '');
    const state = parsed === undefined ? undefined : (this.#protocol.stateIn(parsed) as Partial<ProtocolState> | null);
    if (state === undefined && isEmpty(parsed)) return undefined;
    if (typeof state?.token === 'string' && typeof state.service === 'string') return state as ProtocolState;
    throw new SyncError(
      'DESTINATION_INVALID',
      `Cannot continue from '${file}': it must be the last state of stdout:${this.#protocol.name}, or not exist, such as --state state.json`,
    );
  }
}

const stateCharactersMax = 1_048_576;

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').slice(-stateCharactersMax);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
