import { estimateBytes } from './estimate-bytes.ts';

/** Bounds of a `BoundedMap`. */
export interface BoundedMapOptions<V> {
  readonly entriesMax: number;
  /**
   * Bytes of all entries together; each counts its key, its value and `entryBytes`. 0 keeps
   * nothing.
   */
  readonly bytesMax: number;
  /**
   * Bytes of a value, `estimateBytes` without it. A string that was sliced from a longer one keeps
   * the longer one alive: do not keep such ones.
   */
  readonly bytesOf?: (value: V) => number;
  /** Largest entry, so that one does not push out all others; `bytesMax` without it. */
  readonly entryBytesMax?: number;
  /** Monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
}

/** An entry, linked to its neighbours in the order of last use. */
interface Entry<V> {
  readonly key: string;
  readonly value: V;
  readonly bytes: number;
  readonly expiresAtMs: number;
  older: Entry<V> | undefined;
  newer: Entry<V> | undefined;
}

/**
 * What an entry takes beside the characters of its key and its value: 165 bytes were measured, 205
 * with an expiry.
 */
export const entryBytes = 200;

/**
 * Expired entries are found by the second they expire in: a live one may be evicted before one that
 * expired within this time.
 */
const sweepStepMs = 1_000;

/**
 * A map for what a process keeps in memory: bounded in entries and in bytes, keys counted. To make
 * room, expired entries are evicted first, then the least recently used ones. Every operation takes
 * amortised O(1) time: the order of use is a linked list, as the first key of a JavaScript `Map` is
 * found by stepping over all keys that were deleted before it.
 */
export class BoundedMap<V> {
  readonly #options: Required<BoundedMapOptions<V>>;
  readonly #entries = new Map<string, Entry<V>>();
  /** Entries that expire, by the step of time they do so in. */
  readonly #expiring = new Map<number, Set<Entry<V>>>();
  #oldest: Entry<V> | undefined;
  #newest: Entry<V> | undefined;
  #bytes = 0;
  #sweptStep: number;

  constructor(options: BoundedMapOptions<V>) {
    this.#options = {
      nowMs: () => performance.now(),
      entryBytesMax: options.bytesMax,
      bytesOf: estimateBytes,
      ...options,
    };
    this.#sweptStep = stepOf(this.#options.nowMs());
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Bytes that all entries together are counted as. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The value of a key unless it has expired; it is the most recently used one from now on. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs <= this.#options.nowMs()) {
      this.#remove(entry);
      return undefined;
    }
    this.#unlink(entry);
    this.#link(entry);
    return entry.value;
  }

  /**
   * Keeps a value, for `lifetimeMs` if that is given, and evicts what has no room beside it;
   * `false` when the value is too large to be kept.
   */
  set(key: string, value: V, lifetimeMs = Number.POSITIVE_INFINITY): boolean {
    this.delete(key);
    const { entriesMax, bytesMax, entryBytesMax, bytesOf, nowMs } = this.#options;
    const now = nowMs();
    const bytes = Buffer.byteLength(key) + bytesOf(value) + entryBytes;
    if (bytes > Math.min(bytesMax, entryBytesMax) || lifetimeMs <= 0) return false;
    this.#sweep(now);
    const entry = { key, value, bytes, expiresAtMs: now + lifetimeMs, older: undefined, newer: undefined };
    this.#add(entry);
    while (this.#oldest !== undefined && (this.#entries.size > entriesMax || this.#bytes > bytesMax)) {
      this.#remove(this.#oldest);
    }
    return true;
  }

  /** Removes a key; `false` when it was not kept. */
  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(entry);
    return entry !== undefined;
  }

  clear(): void {
    this.#entries.clear();
    this.#expiring.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
    this.#bytes = 0;
  }

  /**
   * Removes the entries of all steps that are over: each step of time is looked at once, or each
   * step that has entries when those are fewer.
   */
  #sweep(now: number): void {
    const step = stepOf(now);
    const steps = step - this.#sweptStep;
    if (steps <= 0) return;
    const over =
      steps > this.#expiring.size
        ? [...this.#expiring.keys()].filter((each) => each < step)
        : Array.from({ length: steps }, (_, index) => this.#sweptStep + index);
    for (const each of over) for (const entry of this.#expiring.get(each) ?? []) this.#remove(entry);
    this.#sweptStep = step;
  }

  #add(entry: Entry<V>): void {
    this.#entries.set(entry.key, entry);
    this.#bytes += entry.bytes;
    this.#link(entry);
    if (entry.expiresAtMs === Number.POSITIVE_INFINITY) return;
    const step = stepOf(entry.expiresAtMs);
    const sameStep = this.#expiring.get(step);
    if (sameStep === undefined) this.#expiring.set(step, new Set([entry]));
    else sameStep.add(entry);
  }

  #remove(entry: Entry<V>): void {
    this.#entries.delete(entry.key);
    this.#bytes -= entry.bytes;
    this.#unlink(entry);
    const step = stepOf(entry.expiresAtMs);
    const sameStep = this.#expiring.get(step);
    sameStep?.delete(entry);
    if (sameStep?.size === 0) this.#expiring.delete(step);
  }

  #link(entry: Entry<V>): void {
    entry.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry<V>): void {
    if (entry.older === undefined) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.#newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = undefined;
    entry.newer = undefined;
  }
}

const stepOf = (ms: number): number => Math.floor(ms / sweepStepMs);
