/** Where a record stands in the default order. */
export interface OrderKey {
  readonly date: number;
  readonly id: string;
}

/** Before and behind every key. Numbers, as both engines and JavaScript hold them exactly. */
export const firstKey: OrderKey = { date: Number.MIN_SAFE_INTEGER, id: '' };
export const endKey: OrderKey = { date: Number.MAX_SAFE_INTEGER, id: '' };

/**
 * Compares keys as the store orders them; ids are ASCII by contract, so that JavaScript compares
 * them as bytes.
 */
export function compareKeys(a: OrderKey, b: OrderKey): number {
  if (a.date !== b.date) return a.date - b.date;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
