import { LRUCache } from 'lru-cache';

/** Bounds of a `BoundedMap`. */
interface BoundedMapOptions<V> {
  /** Name in the metrics; without it, the map is not measured. */
  readonly name?: string | undefined;
  /** The library reserves memory for this many entries; without it, only bytes are limited. */
  readonly entriesMax?: number;
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

/** Expired entries are removed at most this often, when another one with an expiry is stored. */
const purgeEveryMs = 1_000;

/** Overhead of an entry without its key and value: 84 bytes measured, 92 with an expiry. */
export const entryBytes = 100;

/**
 * A map bounded in entries and in bytes, including keys, which evicts the least recently used
 * entries: `lru-cache` with the bytes and lookups of the metrics.
 */
export class BoundedMap<V> {
  readonly #cache: LRUCache<string, NonNullable<V>>;
  readonly #nowMs: () => number;
  #purgedMs: number;
  #hits = 0;
  #misses = 0;

  constructor(options: BoundedMapOptions<V>) {
    const { name, entriesMax = 0, bytesMax, entryBytesMax = bytesMax, bytesOf = estimateBytes } = options;
    const { nowMs = () => performance.now() } = options;
    this.#nowMs = nowMs;
    this.#purgedMs = nowMs();
    this.#cache = new LRUCache({
      max: entriesMax,
      // 0 would mean no limit; no entry fits into 1
      maxSize: Math.max(1, bytesMax),
      maxEntrySize: Math.max(1, Math.floor(entryBytesMax)),
      sizeCalculation: (value, key) => Buffer.byteLength(key) + bytesOf(value) + entryBytes,
      // an entry of the time 0, at which the clocks of tests begin, would never expire
      perf: { now: () => nowMs() + 1 },
      ttlResolution: 0,
    });
    if (name !== undefined) memories.add([name, new WeakRef(this)]);
  }

  get size(): number {
    return this.#cache.size;
  }

  /** Estimated bytes of all entries. */
  get bytes(): number {
    return this.#cache.calculatedSize;
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
    const value = this.#cache.get(key);
    if (value === undefined) this.#misses += 1;
    else this.#hits += 1;
    return value;
  }

  /**
   * Stores a value, for `lifetimeMs` if given, and evicts others to make room. A value that is too
   * large is not stored, and removes the one before it.
   */
  set(key: string, value: V, lifetimeMs?: number): void {
    if (lifetimeMs === undefined) this.#cache.set(key, value as NonNullable<V>);
    else if (lifetimeMs < 1) this.delete(key);
    else {
      if (this.#nowMs() - this.#purgedMs >= purgeEveryMs) this.#purge();
      // the library keeps an entry until its lifetime has been exceeded
      this.#cache.set(key, value as NonNullable<V>, { ttl: lifetimeMs - 0.001 });
    }
  }

  /** Removes all expired entries: 10,000 take 0.5 ms. */
  #purge(): void {
    this.#purgedMs = this.#nowMs();
    this.#cache.purgeStale();
  }

  /** Removes a key. Returns `false` if it was not stored. */
  delete(key: string): boolean {
    return this.#cache.delete(key);
  }
}

/** V8's overhead of a value in bytes, measured with `process.memoryUsage()` and rounded up. */
const overhead = { string: 24, buffer: 160, collection: 80, item: 40, object: 40, property: 16 } as const;

/**
 * Estimates the bytes of memory that a value takes with everything that it contains. The value must
 * be plain data without cycles: strings, numbers, buffers, arrays, sets, objects.
 */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return overhead.string + Buffer.byteLength(value);
  // the caller has counted it as a `property` or an `item`
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof Uint8Array) return overhead.buffer + value.byteLength;
  if (Array.isArray(value) || value instanceof Set) {
    let bytes: number = overhead.collection;
    for (const item of value) bytes += overhead.item + estimateBytes(item);
    return bytes;
  }
  let bytes: number = overhead.object;
  for (const item of Object.values(value)) bytes += overhead.property + estimateBytes(item);
  return bytes;
}

/** A bounded memory of this process. */
interface Memory {
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

export interface MemoryUse extends Memory {
  readonly name: string;
}

/** The named memories; those of a closed service are collected with it. */
const memories = new Set<readonly [name: string, memory: WeakRef<Memory>]>();

/** The bytes and the lookups of all named memories of this process, added up by name. */
export function memoryUse(): readonly MemoryUse[] {
  const uses = new Map<string, MemoryUse>();
  for (const entry of memories) {
    const [name, reference] = entry;
    const memory = reference.deref();
    if (memory === undefined) memories.delete(entry);
    else {
      const { bytes = 0, hits = 0, misses = 0 } = uses.get(name) ?? {};
      uses.set(name, {
        name,
        bytes: bytes + memory.bytes,
        hits: hits + memory.hits,
        misses: misses + memory.misses,
      });
    }
  }
  return [...uses.values()];
}
