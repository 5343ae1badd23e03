import { endKey, type OrderKey } from '../order-key.ts';

/** A span, and the key that ends it. */
interface SpanBounds {
  readonly from: OrderKey;
  readonly until: OrderKey;
}

/**
 * Where a record lies: its span, how far into it, and how many records the span has; only records
 * of the asked statuses count.
 */
export interface SpanPosition extends SpanBounds {
  readonly skip: number;
  readonly n: number;
}

/**
 * The spans of a series as they were at a revision: places and sums are found in them without
 * asking the store.
 */
export class SpanList {
  readonly revision: number;
  /** What it takes in memory, roughly: its keys, which are parts of the text, and its numbers. */
  readonly bytes: number;
  readonly #keys: readonly OrderKey[];
  /**
   * How many records lie before each span and, as the last number, in all: of every status, and by
   * status.
   */
  readonly #all: Float64Array;
  readonly #byStatus = new Map<string, Float64Array>();

  /**
   * `text` has a line for each span of level 0, in their order: date and id that it begins at, its
   * records, and these by status, between tabs.
   */
  constructor(revision: number, text: string) {
    const lines = text === '' ? [] : text.split('\n');
    this.revision = revision;
    this.#all = new Float64Array(lines.length + 1);
    this.#keys = lines.map((line, index) => {
      const [date = '', id = '', n = '', statuses = '{}'] = line.split('\t');
      this.#all[index + 1] = Number(n);
      for (const [status, rows] of Object.entries<number>(JSON.parse(statuses)))
        this.#numbersOf(status)[index + 1] = rows;
      return { date: Number(date), id };
    });
    for (const numbers of [this.#all, ...this.#byStatus.values()])
      for (let index = 1; index < numbers.length; index += 1)
        numbers[index] = at(numbers, index - 1) + at(numbers, index);
    this.bytes = text.length + lines.length * (100 + 8 * (1 + this.#byStatus.size));
  }

  /** How many spans there are. */
  get length(): number {
    return this.#keys.length;
  }

  /**
   * How many records of some statuses lie before a span by its index, or in all when there is no
   * such span.
   */
  before(index: number, statuses: readonly string[] | undefined): number {
    const place = Math.min(index, this.length);
    if (statuses === undefined) return at(this.#all, place);
    return [...new Set(statuses)].reduce((sum, status) => sum + at(this.#byStatus.get(status), place), 0);
  }

  /**
   * Index of the span in which the first record of a second or later would lie, below 0 when it
   * would lie before all of them.
   */
  indexOf(seconds: number): number {
    return countWhile(this.length, (index) => isUpTo(this.#keys[index], seconds)) - 1;
  }

  /** The span of an index. */
  bounds(index: number): SpanBounds {
    return { from: this.#keys[index] ?? endKey, until: this.#keys[index + 1] ?? endKey };
  }

  /**
   * The place of the record with so many records of some statuses before it; `undefined` when there
   * are not so many.
   */
  find(rank: number, statuses: readonly string[] | undefined): SpanPosition | undefined {
    const index = countWhile(this.length, (each) => this.before(each + 1, statuses) <= rank);
    if (rank < 0 || index >= this.length) return undefined;
    const before = this.before(index, statuses);
    return { ...this.bounds(index), skip: rank - before, n: this.before(index + 1, statuses) - before };
  }

  #numbersOf(status: string): Float64Array {
    const known = this.#byStatus.get(status) ?? new Float64Array(this.#all.length);
    this.#byStatus.set(status, known);
    return known;
  }
}

const at = (numbers: Float64Array | undefined, index: number): number => numbers?.[index] ?? 0;

const isUpTo = (key: OrderKey | undefined, seconds: number): boolean =>
  key !== undefined && (key.date < seconds || (key.date === seconds && key.id === ''));

/** How many of the first indexes a condition holds for, which from some index on holds no more. */
function countWhile(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
