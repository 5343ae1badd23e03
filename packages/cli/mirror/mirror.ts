import { MirrorError } from './error.ts';
import type { Origin, OriginRecord, PageQuery, Reading } from './origin.ts';
import { formatSeconds, type OriginFacts, probeOrigin } from './probe.ts';
import { confirmRemovals } from './removals.ts';
import type { MirrorState, WalkState } from './state.ts';
import type { MirrorTarget } from './target.ts';

/** How a mirror works. Times are in milliseconds. */
interface MirrorOptions {
  /** Base URL and client id of the origin. */
  readonly name: string;
  /** Called with a sentence for people after each step, and after each fault. */
  readonly onEvent?: (sentence: string) => void;
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
/** Records created this shortly before a walk may appear during it. */
const settledSeconds = 600;

/** Takes the pages that are read, and knows which records are new. */
interface PageSink {
  newTo(records: readonly OriginRecord[]): number;
  take(reading: Reading, nextPage: number, fault: string | undefined): Promise<void>;
}

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

  /** Reads new records, then continues the walk, or begins one, to its end. */
  async runOnce(): Promise<WalkState> {
    const walk = await this.#openWalk();
    await this.#readNew();
    await this.#walk(walk);
    return this.#finish(walk.number);
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

  /** Reads new records until the following walk. */
  async #waitUntil(timeMs: number): Promise<void> {
    const { clock } = this.#origin;
    while (clock.wallTime() < timeMs) {
      await clock.sleep(Math.min(windowEveryMs, timeMs - clock.wallTime()), this.#options.signal);
      await this.#readNew();
    }
  }

  /** The walk to continue, or a new one. Page numbers of another page size mean nothing. */
  async #openWalk(): Promise<WalkState> {
    this.#facts = await probeOrigin(this.#origin);
    const { firstPage, pageRecords: size, originAt } = this.#facts;
    const [last] = this.#state.walks(1);
    if (last !== undefined && last.endedAt === null) {
      if (last.size === size) return last;
      this.#state.updateWalk(last.number, {
        endedAt: this.#nowSeconds(),
        fault: 'the origin has changed its page size',
      });
    }
    return this.#state.beginWalk({ startedAt: this.#nowSeconds(), originAt, page: firstPage, size });
  }

  async #walk(walk: WalkState): Promise<void> {
    const how = { walk: walk.number, byWalk: true };
    const { size, firstPage } = this.#requireFacts();
    const isContinued = walk.page > firstPage;
    let taken = 0;
    // one page back: what was removed meanwhile has moved others to it
    if (isContinued) await this.#take((await this.#origin.read({ size, page: walk.page - 1 })).records, how);
    await this.#readPages({}, walk.page, {
      newTo: (records) =>
        this.#state.newTo(
          walk.number,
          records.map(({ id }) => id),
        ),
      take: async (reading, page, fault) => {
        taken += 1;
        await this.#take(reading.records, how, () =>
          this.#noteWalk(walk.number, { page, fault, total: reading.total }),
        );
        await this.#readNew();
      },
    });
    // what a server shows without a number, and what has arrived meanwhile
    const first = await this.#origin.read({ size });
    // records that arrive on the first pages move those that were seen to where the walk continues
    const fault = isContinued && taken === 0 ? 'nothing new was on the page where it continued' : undefined;
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

  /** Ends a walk, and removes what two walks and a read by ICCID show to be gone. */
  async #finish(number: number): Promise<WalkState> {
    const state = this.#state;
    const [walk, before] = state.walks(2) as [WalkState, WalkState | undefined];
    const seen = state.countSeen(number);
    const total = Math.max(walk.firstTotal ?? 0, walk.lastTotal ?? 0);
    const fault = walk.fault ?? (seen < total ? `${seen} records were seen, and the total is ${total}` : null);
    const settled = state.countSeen(number, walk.originAt - settledSeconds);
    state.transact(() => {
      state.updateWalk(number, { endedAt: this.#nowSeconds(), seen, settled, fault });
      if (fault !== null) return;
      const asOf = formatSeconds(walk.startedAt);
      state.set('ages', { newAsOf: state.ages.newAsOf ?? asOf, changesAsOf: asOf });
      if (state.watermark === undefined) state.set('watermark', walk.originAt);
    });
    await this.#target.apply({ records: [], removed: [], ages: state.ages });
    const agrees =
      before?.fault === null &&
      before.endedAt !== null &&
      state.countSeen(number, before.originAt - settledSeconds) === before.settled;
    if (fault === null && agrees)
      await confirmRemovals(this.#origin, this.#target, state, { walk, before, ...this.#requireFacts() });
    const ended = state.walks(1)[0] as WalkState;
    this.#options.onEvent?.(
      `walk ${number}: ${seen} records${ended.fault === null ? '' : `, no evidence: ${ended.fault}`}`,
    );
    return ended;
  }

  /** Reads the records created since the last window, if it is time and the origin can. */
  async #readNew(): Promise<void> {
    const { clock } = this.#origin;
    const { watermark } = this.#state;
    if (watermark === undefined || !this.#requireFacts().afterIsCreated) return;
    if (clock.now() < this.#windowAt + windowEveryMs) return;
    this.#windowAt = clock.now();
    const startedAt = this.#nowSeconds();
    const query = { after: formatSeconds(watermark - overlapSeconds) };
    const how = { walk: this.#state.walks(1)[0]?.number ?? 0, byWalk: false };
    const seen = new Set<string>();
    let [pages, originAt, isWhole]: [number, number | undefined, boolean] = [0, undefined, true];
    await this.#readPages(query, this.#requireFacts().firstPage, {
      newTo: (records) => (pages > windowPagesMax ? 0 : records.filter(({ id }) => !seen.has(id)).length),
      take: async ({ records, dateSeconds }, _, fault) => {
        for (const { id } of records) seen.add(id);
        originAt ??= dateSeconds;
        pages += 1;
        if (fault !== undefined || pages > windowPagesMax) isWhole = false;
        await this.#take(records, how);
      },
    });
    if (!isWhole) return;
    this.#state.transact(() => {
      if (originAt !== undefined) this.#state.set('watermark', originAt);
      this.#state.set('ages', { ...this.#state.ages, newAsOf: formatSeconds(startedAt) });
    });
    await this.#target.apply({ records: [], removed: [], ages: this.#state.ages });
  }

  /**
   * Reads numbered pages until two in a row have nothing new. A page without anything new, or with
   * fewer records than others, is read twice; if a later page has new records, one was missing.
   */
  async #readPages(query: PageQuery, from: number, sink: PageSink): Promise<void> {
    const { pageRecords } = this.#requireFacts();
    let shortPage: number | undefined;
    for (let page = from; ; page += 1) {
      const reading = await this.#readPage(query, page, sink);
      const fault = shortPage === undefined ? undefined : `page ${shortPage} had fewer records than others`;
      if (sink.newTo(reading.records) > 0) {
        await sink.take(reading, page + 1, fault);
        if (reading.records.length < pageRecords) shortPage = page;
        continue;
      }
      const beyond = await this.#readPage(query, page + 1, sink);
      if (sink.newTo(beyond.records) === 0) return;
      await sink.take(beyond, page + 2, `page ${page} was missing`);
      page += 1;
    }
  }

  /** Reads a page, and once more if it looks like the end or is short. */
  async #readPage(query: PageQuery, page: number, sink: PageSink): Promise<Reading> {
    const { size, pageRecords } = this.#requireFacts();
    const first = await this.#origin.read({ ...query, size, page });
    if (sink.newTo(first.records) > 0 && first.records.length >= pageRecords) return first;
    const second = await this.#origin.read({ ...query, size, page });
    return sink.newTo(second.records) >= sink.newTo(first.records) ? second : first;
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
    const changes = { records: differing, removed: [], ages: state.ages };
    if (differing.length > 0) state.transact(() => state.expect(differing, how.walk));
    const rejections = differing.length === 0 ? new Map<string, string>() : await this.#target.apply(changes);
    state.transact(() => {
      state.see(records, how, rejections);
      note();
      if (this.#origin.slowedTo !== undefined) state.set('perMinute', this.#origin.slowedTo);
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
