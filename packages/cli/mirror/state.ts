import { randomUUID } from 'node:crypto';
import { diskRule, StateFile, StateFileError } from '../sync/state-file.ts';
import { MirrorError } from './error.ts';
import type { OriginRecord } from './origin.ts';
import { createdOf } from './probe.ts';
import { digestOf } from './record-digest.ts';
import { stateKind } from './state-kind.ts';
import type { Applied, MirrorAges, SentRecord, TenantRecord } from './target.ts';

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
  /** Distinct records that it has seen, and mirrored ones that it has not. */
  readonly seen: number;
  readonly missing: number;
  /** Records that the tenant rejects after it. */
  readonly rejected: number;
  /** Why it is no evidence; `null` while nothing speaks against it. */
  readonly fault: string | null;
}

/** A mirrored record that recent walks have not seen. */
export interface Candidate {
  readonly id: string;
  readonly iccid: string | null;
  /** createdDate, UTC epoch seconds. */
  readonly created: number | null;
}

/** Missing records that are kept, and why they are. */
export interface Doubt {
  /** Many at once: they are kept until a person confirms them, or walks have agreed for a day. */
  readonly heldBack: number;
  readonly unconfirmed: number;
  readonly reason: string | null;
  /** The walk after which this was so; 0 before a walk was complete. */
  readonly walk: number;
}

/** SQL of the ids in a JSON array. */
const listed = '(select value from json_each(?))';

const idsOf = (records: readonly OriginRecord[]): string => JSON.stringify(records.map(({ id }) => id));

const isComplete = 'endedAt is not null and fault is null and seen >= ?';

/** Walks are kept as evidence for a day; of older ones the newest. */
const walksKept = 10;
const evidenceSeconds = 26 * 3_600;
const removalsKept = 1_000;

/** The state of a mirror, in its state file. */
export class MirrorState {
  readonly #file: StateFile;
  readonly #name: string;

  private constructor(file: StateFile, name: string) {
    this.#file = file;
    this.#name = name;
  }

  /** Opens the file for one process. Throws `MirrorError` if another one has it. */
  static open(file: string): MirrorState {
    return withMirrorError(file, () => new MirrorState(StateFile.open(file, stateKind), file));
  }

  /** Reads the file, also beside a process that has it; `undefined` if there is none. */
  static read<T>(file: string, work: (state: MirrorState) => T): T | undefined {
    return withMirrorError(file, () => StateFile.read(file, stateKind, (state) => work(new MirrorState(state, file))));
  }

  close(): void {
    this.#file.close();
  }

  /** The id of this mirror and the account that it mirrors; a new file takes this one. */
  identify(origin: string): { readonly id: string; readonly origin: string } {
    const known = this.#value<{ id: string; origin: string }>('identity');
    const identity = known ?? { id: randomUUID(), origin };
    if (known === undefined) this.set('identity', identity);
    return identity;
  }

  /** Takes another account. What walks of the former one have not seen is no evidence. */
  changeAccount(origin: string, atSeconds: number): void {
    const fault = 'it is of another account';
    this.transact(() => {
      this.set('identity', { ...this.identify(origin), origin });
      this.abandon(fault, atSeconds);
      this.#run('update walk set fault = coalesce(fault, ?)', fault);
      this.#run("delete from mirror where key in ('watermark', 'doubt')");
    });
  }

  /** Forgets how old the tenant is, and ends the open walk, which is no evidence of it any more. */
  abandon(fault: string, atSeconds: number): void {
    this.#run("delete from mirror where key = 'ages'");
    this.#run('update walk set endedAt = ?, fault = coalesce(fault, ?) where endedAt is null', atSeconds, fault);
  }

  /** The id of this mirror; empty before its first run. */
  get id(): string {
    return this.#value<{ id: string }>('identity')?.id ?? '';
  }

  get ages(): MirrorAges {
    return this.#value<MirrorAges>('ages') ?? { newAsOf: null, changesAsOf: null };
  }

  /** The newest createdDate that may have been seen, in UTC epoch seconds of the origin. */
  get watermark(): number | undefined {
    return this.#value<number>('watermark');
  }

  get doubt(): Doubt {
    const doubt = this.#value<Doubt>('doubt') ?? { heldBack: 0, unconfirmed: 0, reason: null, walk: 0 };
    const left = doubt.reason === null ? 0 : this.countMissing(doubt.walk);
    const [heldBack, unconfirmed] = [Math.min(doubt.heldBack, left), Math.min(doubt.unconfirmed, left)];
    return { ...doubt, heldBack, unconfirmed, reason: left === 0 ? null : doubt.reason };
  }

  set(key: 'identity' | 'ages' | 'watermark' | 'perMinute' | 'doubt' | 'token' | 'isDoubtful', value: unknown): void {
    this.#run(
      'insert into mirror values (?, ?) on conflict do update set value = excluded.value',
      key,
      JSON.stringify(value),
    );
  }

  /** Requests a minute to which the origin has slowed the mirror with 429. */
  get perMinute(): number | undefined {
    return this.#value<number | null>('perMinute') ?? undefined;
  }

  /** The token of the tenant as the mirror left it. */
  get token(): string | undefined {
    return this.#value<string>('token');
  }

  /** Whether the tenant may not be as the mirror left it. */
  get isDoubtful(): boolean {
    return this.#value<boolean>('isDoubtful') ?? false;
  }

  /** What the tenant must have, by id. */
  sent(): Map<string, SentRecord> {
    const rows = this.#all('select id, stored, digest from record') as unknown as {
      id: string;
      stored: string;
      digest: string;
    }[];
    return new Map(rows.map(({ id, stored, digest }) => [id, { stored, isSent: digest !== '' }]));
  }

  /** Forgets that a record, or that any record, was sent: the tenant may have another version. */
  sendAgain(id?: string): void {
    if (id === undefined) this.#run("update record set digest = ''");
    else this.#run("update record set digest = '' where id = ?", id);
  }

  /** Adds a record that only the tenant has. Walks before this miss nothing by not seeing it. */
  adopt({ id, iccid, created, digest }: TenantRecord): void {
    this.#run(
      `insert into record (id, iccid, created, digest, walk, alive, stored)
         values (?, ?, ?, '', 0, (select coalesce(max(number), 0) from walk), ?)`,
      id,
      iccid,
      created,
      digest,
    );
    this.#run('delete from removal where id = ?', id);
  }

  /** Records that the tenant rejects, those of which it keeps an older version, and their age. */
  get staleness(): { readonly rejected: number; readonly kept: number; readonly since: string | null } {
    const row = this.#get(
      "select count(*) as n, count(nullif(stored, '')) as kept, min(case when stored <> '' then coalesce(staleSince, '') end) as since from record where rejection is not null",
    );
    return { rejected: Number(row?.n), kept: Number(row?.kept), since: String(row?.since ?? '') || null };
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

  beginWalk(begun: Pick<WalkState, 'startedAt' | 'originAt' | 'page' | 'size'>): WalkState {
    const { startedAt, originAt, page, size } = begun;
    const sql = 'insert into walk (startedAt, originAt, page, size) values (?, ?, ?, ?)';
    this.#run(sql, startedAt, originAt, page, size);
    const { number } = this.walks(1)[0] as WalkState;
    this.#run('delete from walk where number <= ? and startedAt < ?', number - walksKept, startedAt - evidenceSeconds);
    return this.walks(1)[0] as WalkState;
  }

  /** Stores what has changed about a walk. */
  updateWalk(number: number, changes: Partial<Omit<WalkState, 'number'>>): void {
    for (const [name, value] of Object.entries(changes))
      this.#run(`update walk set ${name} = ? where number = ?`, value, number);
  }

  /** The records of a page that are new or differ from what was mirrored. */
  differing(records: readonly OriginRecord[]): readonly OriginRecord[] {
    const stored = this.#stored(records);
    return records.filter((record) => stored.get(record.id)?.digest !== digestOf(record));
  }

  /**
   * The newest complete walk that saw enough and began at least `seconds` before another one, by
   * the clock of this machine and by that of the origin: one of them may have been set.
   */
  completeBefore({ number, startedAt, originAt }: WalkState, seconds: number, seenMin = 0): WalkState | undefined {
    const sql = `select * from walk where number < ? and startedAt <= ? and originAt <= ? and ${isComplete}
      order by number desc limit 1`;
    const row = this.#get(sql, number, startedAt - seconds, originAt - seconds, seenMin);
    return row as unknown as WalkState | undefined;
  }

  /** Complete walks from a number on that saw enough. */
  countComplete(from: number, seenMin: number): number {
    return Number(this.#get(`select count(*) as n from walk where number >= ? and ${isComplete}`, from, seenMin)?.n);
  }

  /** How many of the records are mirrored. */
  countKnown(records: readonly OriginRecord[]): number {
    return this.#stored(records).size;
  }

  /** Number of the records that a walk has not seen. */
  newTo(walk: number, records: readonly OriginRecord[]): number {
    const sql = `select count(*) as n from record where walk >= ? and id in ${listed}`;
    return records.length - Number(this.#get(sql, walk, idsOf(records))?.n);
  }

  /** What is stored of some records, in one statement. */
  #stored(records: readonly OriginRecord[]): ReadonlyMap<unknown, Readonly<Record<string, unknown>>> {
    const rows = this.#all(`select id, digest from record where id in ${listed}`, idsOf(records));
    return new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * Stores that records are about to be applied, so that the file knows every record of the tenant,
   * also if this process is killed before it knows that one was applied.
   */
  expect(records: readonly OriginRecord[], walk: number): void {
    for (const record of records)
      this.#run(
        `insert into record (id, iccid, created, digest, walk, alive, known) values (?, ?, ?, '', 0, ?, ?)
         on conflict do update set digest = '', alive = max(alive, excluded.alive)`,
        record.id,
        typeof record.iccid === 'string' ? record.iccid : null,
        createdOf(record) ?? null,
        walk,
        walk,
      );
  }

  /**
   * Marks records as seen. Only records seen by the walk itself count as its evidence. Stores what
   * the tenant has made of those that differ.
   */
  see(
    records: readonly OriginRecord[],
    how: { readonly walk: number; readonly byWalk: boolean },
    {
      differing,
      rejections,
      digests,
    }: Pick<Applied, 'rejections' | 'digests'> & { differing: readonly OriginRecord[] },
  ): void {
    const walk = how.byWalk ? how.walk : 0;
    for (const record of differing)
      this.#run(
        `insert into record (id, iccid, created, digest, walk, alive, rejection, known, stored, staleSince)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         on conflict do update set iccid = excluded.iccid, created = excluded.created,
           rejection = case when digest = excluded.digest then rejection else excluded.rejection end,
           staleSince = case when digest = excluded.digest or (rejection is not null and excluded.rejection is not null) then staleSince else excluded.staleSince end,
           stored = case when excluded.stored = '' then stored else excluded.stored end,
           digest = excluded.digest`,
        record.id,
        typeof record.iccid === 'string' ? record.iccid : null,
        createdOf(record) ?? null,
        digestOf(record),
        walk,
        how.walk,
        rejections.get(record.id) ?? null,
        how.walk,
        digests.get(record.id) ?? '',
        rejections.has(record.id) ? this.ages.changesAsOf : null,
      );
    const sql = `update record set alive = ?, walk = max(walk, ?) where id in ${listed}`;
    this.#run(sql, how.walk, walk, idsOf(records));
    if (differing.length > 0) this.#run(`delete from removal where id in ${listed}`, idsOf(differing));
  }

  /** Distinct records that a walk has seen. */
  countSeen(walk: number): number {
    return Number(this.#get('select count(*) as n from record where walk = ?', walk)?.n);
  }

  /** Mirrored records without a sign of life since a walk began. */
  countMissing(walk: number): number {
    return Number(this.#get('select count(*) as n from record where alive < ?', walk)?.n);
  }

  /** These records after an id. */
  candidates(walk: number, after: string, limit: number): readonly Candidate[] {
    const sql = 'select id, iccid, created from record where alive < ? and id > ? order by id limit ?';
    return this.#all(sql, walk, after, limit) as unknown as Candidate[];
  }

  /** A record with an ICCID that a walk has seen, and that was known before another one began. */
  anySeen(walk: number, knownBefore: number): Candidate | undefined {
    const sql = 'select id, iccid, created from record where walk = ? and known < ? and iccid is not null limit 1';
    return this.#get(sql, walk, knownBefore) as unknown as Candidate | undefined;
  }

  /** Forgets records that were removed. */
  removed(ids: readonly string[], at: string): void {
    for (const id of ids) {
      this.#run('delete from record where id = ?', id);
      this.#run('insert into removal values (?, ?) on conflict do update set at = excluded.at', id, at);
    }
    this.#run('delete from removal where id not in (select id from removal order by at desc limit ?)', removalsKept);
  }

  /** Runs `work` as one transaction. */
  transact(work: () => void): void {
    withMirrorError(this.#name, () => this.#file.transact(work));
  }

  #run(sql: string, ...values: (string | number | null)[]): void {
    this.#all(sql, ...values);
  }

  #get(sql: string, ...values: (string | number | null)[]): Record<string, unknown> | undefined {
    return this.#all(sql, ...values)[0];
  }

  #all(sql: string, ...values: (string | number | null)[]): readonly Record<string, unknown>[] {
    return withMirrorError(this.#name, () => this.#file.all(sql, ...values));
  }
}

function withMirrorError<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    const isDisk = error.code === 'DISK';
    const rule = isDisk
      ? diskRule(error.message)
      : 'it must be a file that this user can write and no other process uses';
    throw new MirrorError(
      isDisk ? 'STATE_DISK' : 'STATE',
      `Cannot use the state file of the mirror: ${rule}: current value is '${file}'${isDisk ? '' : ` (${error.message})`}`,
      { cause: error },
    );
  }
}
