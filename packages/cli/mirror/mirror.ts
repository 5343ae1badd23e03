import { MirrorError } from './error.ts';
import type { Origin, OriginRecord } from './origin.ts';
import { type PageSink, readPages, readWindows } from './pages.ts';
import { formatSeconds, type OriginFacts, probeOrigin } from './probe.ts';
import { confirmRemovals, doubtOf } from './removals.ts';
import type { MirrorState, WalkState } from './state.ts';
import type { MirrorTarget } from './target.ts';
import { applyTo, otherTenant, repairTenant } from './tenant-check.ts';

/** How a mirror works. Times are in milliseconds. */
interface MirrorOptions {
  /** Base URL and client id of the origin. */
  readonly name: string;
  /** Called with a sentence for people after each step, and after each fault. */
  readonly onEvent?: (sentence: string) => void;
  /**
   * How many missing records a person has confirmed to be gone. If the walk before was held back
   * whole, its account is confirmed too.
   */
  readonly confirmed?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** New records are read this often, and a whole walk begins this often at most. */
const windowEveryMs = 300_000;
const walkEveryMs = 3_600_000;
const pauseAfterFaultMs = 60_000;
/** Faults that may pass. */
const faults: readonly string[] = ['ORIGIN_FAULT', 'TARGET_FAULT'];
/** A window begins this long before the one before it: records may appear late. */
const overlapSeconds = 900;
/** More new pages than this are left to the walk. */
const windowPagesMax = 100;

/** The result of no changes. */
const nothing = { rejections: new Map<string, string>(), digests: new Map<string, string>() };

/**
 * Keeps a tenant in step with an origin that promises no order, no total, no changes and no
 * deletes. New records come from windows by createdDate, changes from whole walks. A walk is
 * evidence, never the truth: see `confirmRemovals`. Each page is durable in the tenant before the
 * state file has it, so that after kill -9 at most one page is applied again.
 */
export class Mirror {
  readonly #origin: Origin;
  readonly #target: MirrorTarget;
  readonly #state: MirrorState;
  readonly #options: MirrorOptions;
  #facts: OriginFacts | undefined;
  #windowAt = Number.NEGATIVE_INFINITY;
  readonly #named = new Set<string>();

  constructor(origin: Origin, target: MirrorTarget, state: MirrorState, options: MirrorOptions) {
    this.#origin = origin;
    this.#target = target;
    this.#state = state;
    this.#options = options;
  }

  /** Takes the tenant. Throws `MirrorError`. */
  begin(): Promise<void> {
    return this.#target.begin(this.#state.identify(this.#options.name));
  }

  /**
   * Reads new records, then continues the walk, or begins one, to its end. Without a confirmation,
   * the first walk of another account is held back: nothing of it is applied.
   */
  async runOnce(): Promise<WalkState> {
    await this.#checkTenant();
    this.#facts = await probeOrigin(this.#origin);
    const heldBack = await this.#holdBack();
    if (heldBack !== undefined) return heldBack;
    const walk = this.#openWalk();
    await this.#readNew();
    await this.#walk(walk);
    return this.#finish(walk.number);
  }

  /** Has the next walk compare the tenant, and send all records again. */
  reload(): void {
    this.#state.transact(() => {
      this.#state.sendAgain();
      this.#state.abandon('all records are sent again', this.#nowSeconds());
      this.#state.set('isDoubtful', true);
    });
  }

  /** Does so until the signal is aborted; continues after faults of the origin or the target. */
  async follow(): Promise<void> {
    const { signal, onEvent } = this.#options;
    while (signal?.aborted !== true) {
      try {
        const { startedAt } = await this.runOnce();
        await this.#waitUntil(startedAt * 1000 + walkEveryMs);
      } catch (error) {
        if (!(error instanceof MirrorError && faults.includes(error.code))) throw error;
        onEvent?.(error.message);
        await this.#origin.clock.sleep(pauseAfterFaultMs, signal);
      }
    }
  }

  /** Reads new records until the following walk, while the account is the same. */
  async #waitUntil(timeMs: number): Promise<void> {
    const { clock } = this.#origin;
    // a clock that is set back meanwhile, or was ahead before, does not delay the walk
    const endsAt = clock.now() + Math.min(walkEveryMs, timeMs - clock.wallTime());
    while (clock.now() < endsAt) {
      await clock.sleep(Math.min(windowEveryMs, endsAt - clock.now()), this.#options.signal);
      if (this.#facts?.afterIsCreated !== true) continue;
      this.#facts = { ...this.#facts, first: await this.#origin.read({ size: this.#facts.size }) };
      await this.#holdBack();
      await this.#readNew();
    }
  }

  /** Compares the tenant if it is not as the mirror left it. A walk that had begun begins again. */
  async #checkTenant(): Promise<void> {
    const state = this.#state;
    await applyTo(this.#target, state);
    if (!state.isDoubtful) return;
    const { missing, altered, unknown } = await repairTenant(this.#target, state, this.#nowSeconds());
    if (missing.length + altered.length + unknown.length === 0) return;
    const found = `${missing.length} records are missing, ${altered.length} are of another version, ${unknown.length} are unknown`;
    this.#options.onEvent?.(`the tenant is not as the mirror left it: ${found}`);
    await applyTo(this.#target, state); // it may have the ages of a backup
  }

  /**
   * Reads all pages without applying them if the account has changed, or its first page has
   * nothing that is mirrored. Returns the walk that is held back, if it is.
   */
  async #holdBack(): Promise<WalkState | undefined> {
    const state = this.#state;
    const { name, confirmed } = this.#options;
    const { first } = this.#requireFacts();
    const isOther = state.identify(name).origin !== name;
    const isStrange = state.records > 0 && first.records.length > 0 && state.countKnown(first.records) === 0;
    if (!isOther && !isStrange) return undefined;
    const account = isOther ? `the account is another one, ${name}` : 'the account may be another one';
    const heldBack = `held back: ${account}`;
    const isConfirmed = confirmed !== undefined && state.walks(1)[0]?.fault?.startsWith(heldBack) === true;
    if (isConfirmed || state.records === 0) return this.#changeAccount();
    const seen = new Set<string>();
    let known = 0;
    await readPages(this.#origin, this.#requireFacts(), {}, this.#requireFacts().firstPage, {
      newTo: (records) => (known > 0 && !isOther ? 0 : records.filter(({ id }) => !seen.has(id)).length),
      take: async ({ records }) => {
        known += state.countKnown(records.filter(({ id }) => !seen.has(id)));
        for (const { id } of records) seen.add(id);
      },
    });
    if (known > 0 && !isOther) return undefined;
    const fault = `${heldBack}, and ${known} of its ${seen.size} records are mirrored`;
    const { number } = this.#beginWalk(account);
    state.updateWalk(number, { endedAt: this.#nowSeconds(), seen: seen.size, fault });
    if (known > 0) await this.#changeAccount();
    this.#facts = undefined; // its new records are not read either
    return this.#tell(number);
  }

  async #changeAccount(): Promise<undefined> {
    const { name } = this.#options;
    this.#state.changeAccount(name, this.#nowSeconds());
    await this.#target.begin(this.#state.identify(name));
  }

  /** The walk to continue, or a new one. Page numbers of another page size mean nothing. */
  #openWalk(): WalkState {
    const [last] = this.#state.walks(1);
    const isOpen = last?.endedAt === null && last.size === this.#requireFacts().pageRecords;
    return isOpen ? last : this.#beginWalk('the origin has changed its page size');
  }

  /** Begins a walk. An open one ends for a reason, which makes it no evidence. */
  #beginWalk(reason: string): WalkState {
    const [last] = this.#state.walks(1);
    if (last?.endedAt === null)
      this.#state.updateWalk(last.number, { endedAt: this.#nowSeconds(), fault: last.fault ?? reason });
    const { firstPage, pageRecords: size, originAt } = this.#requireFacts();
    return this.#state.beginWalk({ startedAt: this.#nowSeconds(), originAt, page: firstPage, size });
  }

  async #walk(walk: WalkState): Promise<void> {
    const how = { walk: walk.number, byWalk: true };
    const facts = this.#requireFacts();
    const { size, firstPage } = facts;
    const isContinued = walk.page > firstPage;
    const taken: (readonly OriginRecord[])[] = [];
    // one page back: what was removed meanwhile has moved others to it
    if (isContinued) await this.#take((await this.#origin.read({ size, page: walk.page - 1 })).records, how);
    const sinkOf = (hasPages: boolean): PageSink => ({
      newTo: (records) => this.#state.newTo(walk.number, records),
      take: async (reading, page, fault) => {
        taken[Math.min(taken.length, 1)] = reading.records; // the first, and the last
        await this.#take(reading.records, how, () =>
          this.#noteWalk(walk.number, {
            ...(hasPages && { page }),
            fault,
            total: hasPages ? reading.total : undefined,
          }),
        );
        await this.#readNew();
      },
    });
    let end = await readPages(this.#origin, facts, {}, walk.page, sinkOf(true));
    // what a server shows without a number, and what has arrived meanwhile
    const first = await this.#origin.read({ size });
    const [from, to] = [taken[0] ?? first.records, taken.at(-1) ?? first.records];
    if (end !== undefined) end = await readWindows(this.#origin, facts, { first: from, last: to }, sinkOf(false), end);
    // records that arrive on the first pages move those that were seen to where the walk continues
    const isLost = taken.length === 0 && (isContinued || first.records.length > 0);
    const lost = isLost ? `nothing new was on the page where it ${isContinued ? 'continued' : 'began'}` : undefined;
    const fault = lost ?? end;
    await this.#take(first.records, how, () => this.#noteWalk(walk.number, { fault, total: first.total }));
  }

  #noteWalk(
    number: number,
    { page, fault, total }: { page?: number; fault: string | undefined; total: number | undefined },
  ): void {
    const [walk] = this.#state.walks(1);
    this.#state.updateWalk(number, {
      ...(page !== undefined && { page }),
      ...(fault !== undefined && walk?.fault === null && { fault }),
      ...(total !== undefined && { lastTotal: total, firstTotal: walk?.firstTotal ?? total }),
    });
  }

  /** Ends a walk, and removes what walks and reads show to be gone. */
  async #finish(number: number): Promise<WalkState> {
    const state = this.#state;
    await applyTo(this.#target, state); // a walk without changes would not notice a restore
    const [walk] = state.walks(1) as [WalkState];
    const [seen, missing] = [state.countSeen(number), state.countMissing(number)];
    const total = Math.max(walk.firstTotal ?? 0, walk.lastTotal ?? 0);
    const unseen = seen < total ? `${seen} records were seen, and the total is ${total}` : null;
    const fault = walk.fault ?? unseen ?? (state.isDoubtful ? otherTenant : null);
    const { rejected, kept, since } = state.staleness;
    const isConfirmed = missing <= (this.#options.confirmed ?? -1);
    const isDoubted = missing > 0 && !isConfirmed && doubtOf({ ...walk, seen, missing }) !== undefined;
    state.transact(() => {
      state.updateWalk(number, { endedAt: this.#nowSeconds(), seen, missing, rejected, fault });
      // a walk after which removals are held back may have read too little
      if (fault !== null || isDoubted) return;
      const asOf = formatSeconds(walk.startedAt);
      // changes of a record that the tenant rejects are as old as the version that it keeps
      state.set('ages', { newAsOf: this.#newAsOf(asOf), changesAsOf: kept > 0 ? since : asOf });
      if (state.watermark === undefined) state.set('watermark', walk.originAt);
    });
    if (fault === null) {
      const evidence = { origin: this.#origin, target: this.#target, state, facts: this.#requireFacts() };
      state.set('doubt', await confirmRemovals({ ...evidence, walk: { ...walk, seen, missing }, isConfirmed }));
    }
    await applyTo(this.#target, state);
    return this.#tell(number);
  }

  /** How new the records are after a walk: as of a window since, unless a clock was ahead then. */
  #newAsOf(walkAsOf: string): string {
    const { newAsOf } = this.#state.ages;
    const isLater = newAsOf !== null && newAsOf > walkAsOf && newAsOf <= formatSeconds(this.#nowSeconds());
    return isLater ? newAsOf : walkAsOf;
  }

  /** Tells how a walk has ended. */
  #tell(number: number): WalkState {
    const ended = this.#state.walks(1)[0] as WalkState;
    const { heldBack, reason } = this.#state.doubt;
    this.#options.onEvent?.(
      `walk ${number}: ${ended.seen} records${ended.fault === null ? '' : `, no evidence: ${ended.fault}`}`,
    );
    if (heldBack > 0) this.#options.onEvent?.(`held back: ${heldBack} removals: ${reason}`);
    return ended;
  }

  /** Reads the records created since the last window, if it is time and the origin can. */
  async #readNew(): Promise<void> {
    const { clock } = this.#origin;
    const { watermark } = this.#state;
    if (watermark === undefined || this.#facts?.afterIsCreated !== true) return;
    if (clock.now() < this.#windowAt + windowEveryMs) return;
    this.#windowAt = clock.now();
    const startedAt = this.#nowSeconds();
    const query = { after: formatSeconds(watermark - overlapSeconds) };
    const how = { walk: this.#state.walks(1)[0]?.number ?? 0, byWalk: false };
    const seen = new Set<string>();
    let [pages, originAt, isWhole]: [number, number | undefined, boolean] = [0, undefined, true];
    const end = await readPages(this.#origin, this.#requireFacts(), query, this.#requireFacts().firstPage, {
      newTo: (records) => (pages > windowPagesMax ? 0 : records.filter(({ id }) => !seen.has(id)).length),
      take: async ({ records, dateSeconds }, _, fault) => {
        for (const { id } of records) seen.add(id);
        originAt ??= dateSeconds;
        pages += 1;
        if (fault !== undefined || pages > windowPagesMax) isWhole = false;
        await this.#take(records, how);
      },
    });
    if (!isWhole || end !== undefined) return;
    this.#state.transact(() => {
      if (originAt !== undefined) this.#state.set('watermark', originAt);
      const { newAsOf, changesAsOf } = this.#state.ages;
      // what a restore has lost is older than a window
      if (newAsOf !== null) this.#state.set('ages', { newAsOf: formatSeconds(startedAt), changesAsOf });
    });
    await applyTo(this.#target, this.#state);
  }

  /** Applies records to the tenant, then stores that they were seen. */
  async #take(
    records: readonly OriginRecord[],
    how: { readonly walk: number; readonly byWalk: boolean },
    note: () => void = () => undefined,
  ): Promise<void> {
    this.#nameLeftOut();
    const state = this.#state;
    const differing = state.differing(records);
    if (differing.length > 0) state.transact(() => state.expect(differing, how.walk));
    const applied = differing.length === 0 ? nothing : await applyTo(this.#target, state, { records: differing });
    state.transact(() => {
      state.see(records, how, { ...applied, differing });
      note();
      if (this.#origin.slowedTo !== (state.perMinute ?? null)) state.set('perMinute', this.#origin.slowedTo);
    });
  }

  /** Reports once which members of the origin's records are not copied. */
  #nameLeftOut(): void {
    const names = [...this.#origin.leftOut].filter((name) => !this.#named.has(name));
    if (names.length === 0) return;
    for (const name of names) this.#named.add(name);
    const list = names.map((name) => JSON.stringify(name)).join(', ');
    this.#options.onEvent?.(`the origin's records have members that are not copied: ${list}`);
  }

  #requireFacts(): OriginFacts {
    if (this.#facts === undefined) throw new TypeError('Cannot read pages: the origin must be probed first');
    return this.#facts;
  }

  #nowSeconds(): number {
    return Math.floor(this.#origin.clock.wallTime() / 1000);
  }
}
