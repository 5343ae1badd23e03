import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkEntityTag, checkFollower, checkReports, type KnownPage } from './check-at-rest.ts';
import { checkPages, checkSummary, checkWhole } from './check-beside-write.ts';
import { drawQuery } from './draw.ts';
import { Difference, Interrupted } from './failure.ts';
import { Follower } from './follower.ts';
import { type Fault, type History, type Reader, type Round, tenants, type WriteStep } from './history.ts';
import { applyChange, type Change, lengthOf, type Query, rowsApplied, type State } from './model.ts';
import { Past } from './past.ts';
import { Random } from './random.ts';
import { askFor, readPage, readWhole, type Source } from './read.ts';
import { Session } from './session.ts';
import { System } from './system.ts';
import type { Tally } from './tally.ts';
import { beginWrite, changeOf, repeatImport, type Writing, writesAreOver } from './write.ts';

/**
 * How stale a response of a service on PostgreSQL may be after another process made a change, in
 * milliseconds.
 */
const staleMsMax = 1_000;
const noChange: Change = { kind: 'import', versions: [], ids: [] };

interface TenantRun {
  state: State;
  readonly follower: Follower;
  readonly past: Past;
  known?: KnownPage;
}

/** A backup, and what the store may have had when it was made. */
interface Backup {
  readonly file: string;
  readonly states: ReadonlyMap<string, State>;
  readonly write: WriteStep | undefined;
  readonly useItsClients: () => void;
}

/** Runs a history on a new store and throws `Difference` if the service and the model disagree. */
export async function runHistory(history: History, postgresUrl: string | undefined, tally: Tally): Promise<void> {
  const system = new System(history.engine === 'postgres' ? postgresUrl : undefined, history);
  try {
    await system.start();
    const run = new HistoryRun(history, system, tally);
    await run.prepare();
    for (const [index, round] of history.rounds.entries()) {
      await run.round(round, index).catch((error: unknown) => {
        throw new Difference(`round ${index}: ${(error as Error).message}`, { cause: error });
      });
      tally.rounds += 1;
    }
    await run.comparePast();
    tally.histories += 1;
    if (history.versions > 1) tally['of two versions'] += 1;
  } finally {
    await system.close();
  }
}

class HistoryRun {
  readonly #history: History;
  readonly #system: System;
  readonly #session: Session;
  readonly #tally: Tally;
  readonly #tenants = new Map<string, TenantRun>();
  #backup: Backup | undefined;
  /** Duration of a write in milliseconds: faults are timed relative to it. */
  #writeMs = 800;

  constructor(history: History, system: System, tally: Tally) {
    this.#history = history;
    this.#system = system;
    this.#session = new Session(system);
    this.#tally = tally;
  }

  async prepare(): Promise<void> {
    for (const tenant of tenants) {
      await this.#session.addTenant(tenant);
      this.#tenants.set(tenant, { state: new Map(), follower: new Follower(), past: new Past() });
    }
  }

  async round(round: Round, index: number): Promise<void> {
    const applied = await this.#act(round, index);
    await this.#settle(round);
    if (round.write !== undefined) await this.#adopt(round.write, applied, index);
    if (round.write?.twinRows !== undefined) await this.#writeTwin(round.write, round.write.twinRows, index);
    if (round.then === 'restore') await this.#restore();
    else if (round.then === 'delete tenant') await this.#replaceTenant(new Random(round.seed).pick(tenants));
    for (const tenant of tenants) await this.#check(tenant, new Random(round.seed));
    if (round.doctor) await this.#system.command(['doctor']);
  }

  /** Reads all former moments once more. */
  async comparePast(): Promise<void> {
    for (const [tenant, { past }] of this.#tenants) await past.compareKept(this.#session, tenant, this.#tally);
  }

  /**
   * Writes, reads and injects faults concurrently. Returns `true` if the write was acknowledged,
   * `false` if it was aborted.
   */
  async #act(round: Round, index: number): Promise<boolean> {
    const { write, fault } = round;
    const change = write === undefined ? noChange : changeOf(write);
    const started = performance.now();
    for (const { past } of this.#tenants.values()) past.endSecond();
    const service = fault?.service ?? ((index % 2) as 0 | 1);
    const writing = write && this.#beginWrite(write, service, `source-${index}`);
    let isOver = writing === undefined;
    const written = (writing?.done ?? Promise.resolve(true))
      .catch((error: unknown) => this.#excuse(error, fault, write))
      .finally(() => {
        isOver = true;
      });
    const others = [
      ...round.readers.map((reader) => this.#read(reader, change, round, () => isOver)),
      ...(fault === undefined ? [] : [this.#break(fault, writing)]),
      ...(round.rotate === undefined ? [] : [this.#rotate(round.rotate)]),
      ...(round.sweep === true ? [this.#sweep(fault)] : []),
      ...(round.backup === true ? [this.#makeBackup(round, index)] : []),
    ];
    // nothing may still run when the next round begins
    const outcomes = await Promise.allSettled([written, ...others]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    if (write !== undefined) {
      this.#tally.writes += 1;
      this.#tally['rows written'] += write.rows;
    }
    if (fault === undefined && writing !== undefined) this.#writeMs = (this.#writeMs + performance.now() - started) / 2;
    return written;
  }

  #beginWrite(write: WriteStep, service: 0 | 1, file: string): Writing {
    const { state: before } = this.#tenantOf(write.tenant);
    return beginWrite(this.#system, this.#session, write, { before, service, file });
  }

  /** Whether a fault explains that a write failed; throws otherwise. */
  #excuse(error: unknown, fault: Fault | undefined, write: WriteStep | undefined): boolean {
    const explains =
      fault?.kind === 'cut connections' ||
      (write?.via === 'http' && fault !== undefined && fault.kind !== 'kill writer');
    if (!(error instanceof Interrupted) || !explains) throw error;
    return false;
  }

  /** Reads at least once, and again until the write is over. */
  async #read(reader: Reader, change: Change, { write, fault, rotate }: Round, isOver: () => boolean): Promise<void> {
    const { state, follower } = this.#tenantOf(reader.tenant);
    const beside = write?.tenant === reader.tenant ? change : noChange;
    const source: Source = { session: this.#session, service: reader.service, tenant: reader.tenant };
    const mayBreak = (fault !== undefined && fault.kind !== 'kill writer') || rotate !== undefined;
    for (let times = 0; times === 0 || (!isOver() && times < 20); times += 1) {
      try {
        const random = new Random(reader.seed + times);
        const { reports, summaries } = this.#history;
        if (reader.kind === 'pages') await checkPages(source, state, beside, reports, random, this.#tally);
        else if (reader.kind === 'export') await checkWhole(source, state, beside, this.#tally);
        else if (reader.kind === 'summary') await checkSummary(source, state, beside, summaries, random, this.#tally);
        else if (reader === this.#firstFollower(reader)) await follower.catchUp(source, random);
      } catch (error) {
        if (!(error instanceof Interrupted) || !mayBreak) throw error;
        this.#tally['interrupted requests'] += 1;
        await sleep(30);
      }
    }
  }

  /** A follower has one reader at a time: the first. */
  #firstFollower(reader: Reader): Reader {
    const first = this.#following.get(reader.tenant) ?? reader;
    this.#following.set(reader.tenant, first);
    return first;
  }
  readonly #following = new Map<string, Reader>();

  async #break({ kind, moment, service }: Fault, writing: Writing | undefined): Promise<void> {
    await sleep(moment * this.#writeMs);
    if (kind === 'cut connections') {
      await this.#system.cutConnections();
      this.#tally['cut connections'] += 1;
      return;
    }
    this.#tally.kills += 1;
    if (kind === 'kill writer') return writing?.kill();
    const place = this.#system.places[service];
    place?.process.child.kill(kind === 'kill service' ? 'SIGKILL' : 'SIGTERM');
    await place?.process.ended;
    this.#system.restart(service);
  }

  /** Rotates the signing keys; after a compromise, no service accepts an older token. */
  async #rotate(how: 'plain' | 'compromised'): Promise<void> {
    const old = this.#session.tokenOf('acme');
    await this.#system.command(['keys', 'rotate', how === 'plain' ? '--now' : '--compromised']);
    this.#tally['key rotations'] += 1;
    if (how === 'plain' || old === undefined) return;
    if (this.#history.engine === 'postgres') await sleep(staleMsMax);
    await this.#expectRejected(old, 'of a compromised key');
  }

  async #expectRejected(token: string, what: string): Promise<void> {
    for (const { url } of this.#system.places) {
      const headers = { authorization: `Bearer ${token}` };
      const { status } = await fetch(`${url}/connect-api/v1/subscription?size=1`, { headers });
      if (status !== 401) throw new Difference(`a token ${what} gets ${status} from ${url}`);
    }
  }

  /** Removes all tombstones of now, so that any change token of now may be rejected. */
  async #sweep(fault: Fault | undefined): Promise<void> {
    for (const { follower, past } of this.#tenants.values()) {
      follower.expectRejection('possible');
      past.sweep();
    }
    try {
      this.#tally['tombstones swept'] += await this.#system.sweep();
      this.#tally.sweeps += 1;
    } catch (error) {
      if (fault?.kind !== 'cut connections') throw error;
    }
  }

  /** Makes a backup beside a write. */
  async #makeBackup({ write, fault }: Round, index: number): Promise<void> {
    if (fault?.kind === 'cut connections') return;
    const states = new Map([...this.#tenants].map(([tenant, { state }]) => [tenant, state]));
    const file = join(this.#system.folder, `backup-${index}.db`);
    const useItsClients = this.#session.keepClients();
    await this.#system.command(['backup', file]);
    this.#backup = { file, states, write, useItsClients };
    this.#tally.backups += 1;
  }

  /** Restores the last backup; its history is a new one. */
  async #restore(): Promise<void> {
    const backup = this.#backup;
    if (backup === undefined) return;
    await this.#system.restore(backup.file);
    backup.useItsClients();
    for (const [name, tenant] of this.#tenants) {
      const before = backup.states.get(name) ?? new Map();
      tenant.state = before;
      if (backup.write?.tenant === name) {
        const change = changeOf(backup.write);
        tenant.state = applyChange(before, change, await this.#countRows(name, before, change));
      }
      tenant.follower.expectRejection('certain');
      tenant.past.discard();
    }
    this.#tally.restores += 1;
  }

  /** Deletes a tenant with its clients and creates another one of its name. */
  async #replaceTenant(name: string): Promise<void> {
    const tenant = this.#tenantOf(name);
    const old = this.#session.tokenOf(name);
    await this.#system.command(['tenant', 'delete', name, '--yes']);
    await this.#session.addTenant(name);
    if (this.#history.engine === 'postgres') await sleep(staleMsMax);
    if (old !== undefined) await this.#expectRejected(old, 'of a deleted client');
    tenant.state = new Map();
    tenant.follower.expectRejection('certain');
    tenant.past.forget();
    this.#tally['tenants deleted'] += 1;
  }

  /** Loads the first rows of a write into the other tenant. */
  async #writeTwin(write: WriteStep, rows: number, index: number): Promise<void> {
    const [tenant = write.tenant] = tenants.filter((each) => each !== write.tenant);
    const { twinRows: _twinRows, ...rest } = write;
    const twin: WriteStep = { ...rest, tenant, rows };
    const { done } = this.#beginWrite(twin, 0, `twin-${index}`);
    if (!(await done)) throw new Difference('a write without a fault was aborted');
    await this.#settle({ readers: [], seed: 0, write: twin });
    await this.#adopt(twin, true, index);
  }

  /** Waits until nothing runs, and until no service may return stale data. */
  async #settle({ write }: Round): Promise<void> {
    this.#following.clear();
    await this.#system.ready();
    await this.#system.quiet();
    if (write !== undefined) await writesAreOver(this.#session, write.tenant, 0);
    if (this.#history.engine === 'postgres') await sleep(staleMsMax);
  }

  /**
   * Determines how much of a change was stored: all of an acknowledged one, some first rows of an
   * aborted one.
   */
  async #adopt(write: WriteStep, acknowledged: boolean, index: number): Promise<void> {
    const tenant = this.#tenantOf(write.tenant);
    const change = changeOf(write);
    const count = () => this.#countRows(write.tenant, tenant.state, change);
    let rows = await count();
    if (!acknowledged && write.kind === 'import' && write.via === 'command' && index % 2 === 0) {
      await repeatImport(this.#system, write, `source-${index}`);
      if (this.#history.engine === 'postgres') await sleep(staleMsMax);
      rows = await count();
      acknowledged = true;
    }
    if (acknowledged && rows !== lengthOf(change)) {
      throw new Difference(
        `acknowledged records are lost: ${rows} of ${lengthOf(change)} rows of ${JSON.stringify(write)} are there`,
      );
    }
    tenant.state = applyChange(tenant.state, change, rows);
    if (change.kind !== 'delete') return;
    if (acknowledged) tenant.past.erase(change.ids);
    else tenant.past.forget(); // ids without a record may have been erased or not
  }

  /** Returns how many rows of a change the store has. */
  async #countRows(tenant: string, before: State, change: Change): Promise<number> {
    const { records } = await readWhole({ session: this.#session, service: 0, tenant }, {});
    const rows = rowsApplied(before, change, records);
    if (rows !== undefined) return rows;
    const what = `a change (${change.kind} of ${lengthOf(change)} rows)`;
    throw new Difference(`after ${what}, the store has ${records.length} records that no first rows of it explain`);
  }

  async #check(name: string, random: Random): Promise<void> {
    const { state, follower, past, known } = this.#tenantOf(name);
    for (const service of [0, 1] as const) {
      const source: Source = { session: this.#session, service, tenant: name };
      if (known !== undefined) await checkEntityTag(source, known, state);
      await checkReports(source, state, this.#history, random, this.#tally);
      await checkFollower(source, follower, state, random, this.#tally);
    }
    follower.expectRejection('never');
    const { fields } = drawQuery(random, 'getSubscription');
    const query: Query = { size: '50', ...(fields !== undefined && { fields }) };
    const source: Source = { session: this.#session, service: 0, tenant: name };
    await past.check({ ...source, service: random.pick([0, 1] as const) }, state, random, this.#tally);
    await past.remember(source, state);
    this.#tenantOf(name).known = { ...(await readPage(source, askFor(query, false), query)), query };
  }

  #tenantOf(name: string): TenantRun {
    const tenant = this.#tenants.get(name);
    if (tenant === undefined) throw new TypeError(`Cannot go on: the tenant '${name}' must exist`);
    return tenant;
  }
}
