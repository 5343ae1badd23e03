import { estimateBytes } from './estimate-bytes.ts';
import { listMemory } from './memory-use.ts';

/** Bounds of a `BoundedMap`. */
export interface BoundedMapOptions<V> {
  /** Name in the metrics; without it, the map is not measured. */
  readonly name?: string | undefined;
  readonly entriesMax: number;
  /** Bytes of all entries; each counts its key, its value and `entryBytes`. 0 disables the map. */
  readonly bytesMax: number;
  /**
   * Bytes of a value; the default is `estimateBytes`. Do not store a slice of a longer string: it
   * keeps the longer one in memory.
   */
  readonly bytesOf?: (value: V) => number;
  /** Bytes of the largest entry, so that one does not evict all others; `bytesMax` by default. */
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

/** Overhead of an entry without its key and value: 165 bytes measured, 205 with an expiry. */
export const entryBytes = 200;

/**
 * Expired entries are found by the second in which they expire: a live entry may be evicted before
 * one that expired less than this ago.
 */
const sweepStepMs = 1_000;

/**
 * A map bounded in entries and in bytes, including keys. Expired entries are evicted first, then
 * the least recently used ones. Every operation takes amortised O(1) time: the order of use is a
 * linked list, because finding the first key of a `Map` steps over all keys deleted before it.
 */
export class BoundedMap<V> {
  readonly #options: Required<Omit<BoundedMapOptions<V>, 'name'>>;
  readonly #entries = new Map<string, Entry<V>>();
  /** Entries with an expiry, by the step in which they expire. */
  readonly #expiring = new Map<number, Set<Entry<V>>>();
  #oldest: Entry<V> | undefined;
  #newest: Entry<V> | undefined;
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #sweptStep: number;

  constructor(options: BoundedMapOptions<V>) {
    this.#options = {
      nowMs: () => performance.now(),
      entryBytesMax: options.bytesMax,
      bytesOf: estimateBytes,
      ...options,
    };
    this.#sweptStep = stepOf(this.#options.nowMs());
    if (options.name !== undefined) listMemory(options.name, this);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Estimated bytes of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Lookups that found an entry. */
  get hits(): number {
    return this.#hits;
  }

  /** Lookups that found none. */
  get misses(): number {
    return this.#misses;
  }

  /** The value of a key, unless it has expired. The entry becomes the most recently used one. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#isExpired(entry)) {
      if (entry !== undefined) this.#remove(entry);
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    this.#unlink(entry);
    this.#link(entry);
    return entry.value;
  }

  /**
   * Stores a value, for `lifetimeMs` if given, and evicts others to make room. Returns `false` if
   * the value is too large to be stored.
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

  #isExpired({ expiresAtMs }: Entry<V>): boolean {
    return expiresAtMs !== Number.POSITIVE_INFINITY && expiresAtMs <= this.#options.nowMs();
  }

  /** Removes a key. Returns `false` if it was not stored. */
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
   * Removes the entries of all past steps: visits each step since the last sweep, or each step that
   * has entries if those are fewer.
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
