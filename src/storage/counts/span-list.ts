import { lowerBound } from '../lower-bound.ts';
import { endOrderKey, type OrderKey } from '../order-key.ts';

/** The order keys that a leaf lies between; `until` is excluded. */
interface LeafBounds {
  readonly from: OrderKey;
  readonly until: OrderKey;
}

/** Where a row lies. Only rows of the requested statuses count in `skip` and `n`. */
export interface LeafPosition extends LeafBounds {
  /** Rows of the leaf before it. */
  readonly skip: number;
  /** Rows of the leaf. */
  readonly n: number;
}

let lists = 0;

/** The leaves of one tree at one revision, for rank and select without the store. */
export class SpanList {
  /** Distinguishes the list from all others of the process. */
  readonly id: number;
  readonly revision: number;
  /** Estimated bytes of memory: the keys, which are slices of the string read, and the counts. */
  readonly bytes: number;
  readonly #keys: readonly OrderKey[];
  /** Prefix sums: how many rows lie before each leaf, and in all leaves as the last number. */
  readonly #all: Float64Array;
  readonly #byStatus = new Map<string, Float64Array>();

  /**
   * `text` has a line for each leaf, in order: date and id of its key, its rows, and its rows by
   * status as JSON, separated by tabs.
   */
  constructor(revision: number, text: string) {
    const lines = text === '' ? [] : text.split('\n');
    lists += 1;
    this.id = lists;
    this.revision = revision;
    this.#all = new Float64Array(lines.length + 1);
    this.#keys = lines.map((line, index) => {
      const [date = '', id = '', n = '', statuses = '{}'] = line.split('\t');
      this.#all[index + 1] = Number(n);
      for (const [status, rows] of Object.entries<number>(JSON.parse(statuses))) this.#sumsOf(status)[index + 1] = rows;
      return { date: Number(date), id };
    });
    for (const sums of [this.#all, ...this.#byStatus.values()])
      for (let index = 1; index < sums.length; index += 1) sums[index] = at(sums, index - 1) + at(sums, index);
    this.bytes = text.length + lines.length * (100 + 8 * (1 + this.#byStatus.size));
  }

  /** How many leaves there are. */
  get length(): number {
    return this.#keys.length;
  }

  /** How many rows of some statuses lie before a leaf; all of them past the last leaf. */
  rowsBefore(index: number, statuses: readonly string[] | undefined): number {
    const leaf = Math.min(index, this.length);
    if (statuses === undefined) return at(this.#all, leaf);
    return [...new Set(statuses)].reduce((sum, status) => sum + at(this.#byStatus.get(status), leaf), 0);
  }

  /** Index of the leaf that holds the first row of a second; -1 before the first leaf. */
  leafAt(seconds: number): number {
    return lowerBound(this.length, (index) => isUpTo(this.#keys[index], seconds)) - 1;
  }

  bounds(index: number): LeafBounds {
    return { from: this.#keys[index] ?? endOrderKey, until: this.#keys[index + 1] ?? endOrderKey };
  }

  /** Finds the row of a rank among those of some statuses; `undefined` past the last one. */
  select(rank: number, statuses: readonly string[] | undefined): LeafPosition | undefined {
    const index = lowerBound(this.length, (each) => this.rowsBefore(each + 1, statuses) <= rank);
    if (rank < 0 || index >= this.length) return undefined;
    const before = this.rowsBefore(index, statuses);
    return { ...this.bounds(index), skip: rank - before, n: this.rowsBefore(index + 1, statuses) - before };
  }

  #sumsOf(status: string): Float64Array {
    const known = this.#byStatus.get(status) ?? new Float64Array(this.#all.length);
    this.#byStatus.set(status, known);
    return known;
  }
}

const at = (numbers: Float64Array | undefined, index: number): number => numbers?.[index] ?? 0;

const isUpTo = (key: OrderKey | undefined, seconds: number): boolean =>
  key !== undefined && (key.date < seconds || (key.date === seconds && key.id === ''));
