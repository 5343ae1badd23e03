import { createHash, randomUUID } from 'node:crypto';
import { StateFile, StateFileError, type StateKind } from '../sync/state-file.ts';
import { MirrorError } from './error.ts';
import type { OriginRecord } from './origin.ts';
import { createdOf } from './probe.ts';
import type { MirrorAges } from './target.ts';

/** A walk over all pages, as evidence of what the origin has. */
export interface WalkState {
  readonly number: number;
  /** By this machine's clock, and by the origin's; UTC epoch seconds. */
  readonly startedAt: number;
  readonly originAt: number;
  readonly endedAt: number | null;
  /** The page to read next, and how many records a full page has. */
  readonly page: number;
  readonly size: number;
  /** The first and the last X-Total-Count; `null` if none was sent. */
  readonly firstTotal: number | null;
  readonly lastTotal: number | null;
  /** Distinct records that it has seen, and those of them created before `originAt`. */
  readonly seen: number;
  readonly settled: number;
  /** Why it is no evidence; `null` while nothing speaks against it. */
  readonly fault: string | null;
}

/** A mirrored record that recent walks have not seen. */
export interface Candidate {
  readonly id: string;
  readonly iccid: string | null;
}

const kind: StateKind = {
  applicationId: 0x73726d72,
  migrations: [
    `create table mirror (key text primary key, value text not null) strict;
    create table record (
      id text primary key, iccid text, created integer, digest text not null,
      walk integer not null, alive integer not null, rejection text
    ) strict, without rowid;
    create index record_alive on record (alive);
    create table walk (
      number integer primary key, startedAt integer not null, originAt integer not null, endedAt integer,
      page integer not null, firstTotal integer, lastTotal integer, seen integer not null default 0,
      settled integer not null default 0, fault text, size integer not null
    ) strict;
    create table removal (id text primary key, at text not null) strict, without rowid;`,
  ],
};

const walksKept = 10;
const removalsKept = 1_000;

/** The state of a mirror, in its state file. */
export class MirrorState {
  readonly #file: StateFile;

  private constructor(file: StateFile) {
    this.#file = file;
  }

  /** Opens the file for one process. Throws `MirrorError` if another one has it. */
  static open(file: string): MirrorState {
    return withMirrorError(file, () => new MirrorState(StateFile.open(file, kind)));
  }

  /** Reads the file, also beside a process that has it; `undefined` if there is none. */
  static read<T>(file: string, work: (state: MirrorState) => T): T | undefined {
    return withMirrorError(file, () => StateFile.read(file, kind, (state) => work(new MirrorState(state))));
  }

  close(): void {
    this.#file.close();
  }

  /** The id of this mirror and its origin. Throws `MirrorError` if the file is of another. */
  identify(origin: string): { readonly id: string; readonly origin: string } {
    const known = this.#value<{ id: string; origin: string }>('identity');
    if (known === undefined) this.set('identity', { id: randomUUID(), origin });
    if (known !== undefined && known.origin !== origin)
      throw new MirrorError(
        'STATE',
        `Cannot use the state file of the mirror: it must be of the same origin and client; choose another one with --state: current value is that of ${known.origin}`,
      );
    return this.#value<{ id: string; origin: string }>('identity') as { id: string; origin: string };
  }

  get ages(): MirrorAges {
    return this.#value<MirrorAges>('ages') ?? { newAsOf: null, changesAsOf: null };
  }

  /** The newest createdDate that may have been seen, in UTC epoch seconds of the origin. */
  get watermark(): number | undefined {
    return this.#value<number>('watermark');
  }

  set(key: 'identity' | 'ages' | 'watermark' | 'perMinute', value: unknown): void {
    this.#run(
      'insert into mirror values (?, ?) on conflict do update set value = excluded.value',
      key,
      JSON.stringify(value),
    );
  }

  /** Requests a minute to which the origin has slowed the mirror with 429. */
  get perMinute(): number | undefined {
    return this.#value<number>('perMinute');
  }

  #value<T>(key: string): T | undefined {
    const row = this.#get('select value from mirror where key = ?', key);
    return row === undefined ? undefined : (JSON.parse(String(row.value)) as T);
  }

  /** Records in the tenant: those it accepted. */
  get records(): number {
    return Number(this.#get('select count(*) as n from record where rejection is null')?.n);
  }

  get rejected(): readonly { readonly id: string; readonly reason: string }[] {
    const rows = this.#all('select id, rejection as reason from record where rejection is not null limit 100');
    return rows as unknown as { id: string; reason: string }[];
  }

  get removedIds(): readonly string[] {
    return this.#all('select id from removal order by at desc, id limit 1000').map(({ id }) => String(id));
  }

  /** The newest walks, the newest first. */
  walks(limit = walksKept): readonly WalkState[] {
    return this.#all('select * from walk order by number desc limit ?', limit) as unknown as WalkState[];
  }

  beginWalk({
    startedAt,
    originAt,
    page,
    size,
  }: Pick<WalkState, 'startedAt' | 'originAt' | 'page' | 'size'>): WalkState {
    this.#run(
      'insert into walk (startedAt, originAt, page, size) values (?, ?, ?, ?)',
      startedAt,
      originAt,
      page,
      size,
    );
    this.#run('delete from walk where number <= (select max(number) from walk) - ?', walksKept);
    return this.walks(1)[0] as WalkState;
  }

  /** Stores what has changed about a walk. */
  updateWalk(number: number, changes: Partial<Omit<WalkState, 'number'>>): void {
    for (const [name, value] of Object.entries(changes))
      this.#run(`update walk set ${name} = ? where number = ?`, value, number);
  }

  /** The records of a page that are new or differ from what was mirrored. */
  differing(records: readonly OriginRecord[]): readonly OriginRecord[] {
    const last = new Map(records.map((record) => [record.id, record]));
    return [...last.values()].filter((record) => this.#digest(record.id) !== digestOf(record));
  }

  /** Number of the ids that a walk has not seen. */
  newTo(walk: number, ids: readonly string[]): number {
    return new Set(ids.filter((id) => Number(this.#get('select walk from record where id = ?', id)?.walk ?? 0) < walk))
      .size;
  }

  #digest(id: string): unknown {
    return this.#get('select digest from record where id = ?', id)?.digest;
  }

  /**
   * Stores that records are about to be applied, so that the file knows every record of the tenant,
   * also if this process is killed before it knows that one was applied.
   */
  expect(records: readonly OriginRecord[], walk: number): void {
    for (const { id, iccid } of records)
      this.#run(
        `insert into record (id, iccid, digest, walk, alive) values (?, ?, '', 0, ?)
         on conflict do update set digest = '', alive = max(alive, excluded.alive)`,
        id,
        typeof iccid === 'string' ? iccid : null,
        walk,
      );
  }

  /**
   * Stores that records were seen: by a walk, or otherwise, such as in a window; then the walk
   * counts them as alive, but not as seen by it.
   */
  see(
    records: readonly OriginRecord[],
    how: { readonly walk: number; readonly byWalk: boolean },
    rejections: ReadonlyMap<string, string>,
  ): void {
    for (const record of records) {
      this.#run(
        `insert into record (id, iccid, created, digest, walk, alive, rejection) values (?, ?, ?, ?, ?, ?, ?)
         on conflict do update set iccid = excluded.iccid, created = excluded.created, alive = excluded.alive,
           rejection = case when digest = excluded.digest then rejection else excluded.rejection end,
           digest = excluded.digest, walk = max(walk, excluded.walk)`,
        record.id,
        typeof record.iccid === 'string' ? record.iccid : null,
        createdOf(record) ?? null,
        digestOf(record),
        how.byWalk ? how.walk : 0,
        how.walk,
        rejections.get(record.id) ?? null,
      );
      this.#run('delete from removal where id = ?', record.id);
    }
  }

  /** Distinct records that a walk has seen, if given only those created before an instant. */
  countSeen(walk: number, createdBefore?: number): number {
    const sql = 'select count(*) as n from record where walk = ?';
    if (createdBefore === undefined) return Number(this.#get(sql, walk)?.n);
    return Number(this.#get(`${sql} and coalesce(created, 0) < ?`, walk, createdBefore)?.n);
  }

  /** Mirrored records without a sign of life since a walk began, after an id. */
  candidates(walk: number, after: string, limit: number): readonly Candidate[] {
    const sql = 'select id, iccid from record where alive < ? and id > ? order by id limit ?';
    return this.#all(sql, walk, after, limit) as unknown as Candidate[];
  }

  /** A record that a walk has seen and that has an ICCID. */
  anySeen(walk: number): Candidate | undefined {
    return this.#get('select id, iccid from record where walk = ? and iccid is not null limit 1', walk) as
      | Candidate
      | undefined;
  }

  removed(ids: readonly string[], at: string): void {
    for (const id of ids) {
      this.#run('delete from record where id = ?', id);
      this.#run('insert into removal values (?, ?) on conflict do update set at = excluded.at', id, at);
    }
    this.#run('delete from removal where id not in (select id from removal order by at desc limit ?)', removalsKept);
  }

  /** Runs `work` as one transaction. */
  transact(work: () => void): void {
    this.#file.transact(work);
  }

  #run(sql: string, ...values: (string | number | null)[]): void {
    this.#file.all(sql, ...values);
  }

  #get(sql: string, ...values: (string | number | null)[]): Record<string, unknown> | undefined {
    return this.#file.all(sql, ...values)[0];
  }

  #all(sql: string, ...values: (string | number | null)[]): readonly Record<string, unknown>[] {
    return this.#file.all(sql, ...values);
  }
}

function withMirrorError<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    throw new MirrorError(
      'STATE',
      `Cannot use the state file of the mirror: it must be a file that this user can write and no other process uses: current value is '${file}' (${error.message})`,
      { cause: error },
    );
  }
}

const digestOf = (record: OriginRecord): string =>
  createHash('sha256').update(JSON.stringify(record)).digest('base64url').slice(0, 22);
