/** Position of a record in the default order: `createdDate` in UTC epoch seconds, then the id. */
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
