/**
 * Position of a record in an order: a date in UTC epoch seconds, which is `createdDate` by default,
 * then the id.
 */
export interface OrderKey {
  readonly date: number;
  readonly id: string;
}

/** Before every record. A safe integer, so that both engines and JavaScript hold it exactly. */
export const firstOrderKey: OrderKey = { date: Number.MIN_SAFE_INTEGER, id: '' };
/** After every record. */
export const endOrderKey: OrderKey = { date: Number.MAX_SAFE_INTEGER, id: '' };

/** Compares as both engines do. Ids are ASCII, so comparing strings compares their bytes. */
export function compareOrderKeys(a: OrderKey, b: OrderKey): number {
  if (a.date !== b.date) return a.date - b.date;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
