/** The times of charts: at even distances but for the last one, which can be closer. */
export interface Slots {
  /** Number of times that the width holds. */
  readonly slots: number;
  /** By which part of a slot the last time is closer to the one before it, from 0 to 1. */
  readonly shift: number;
}

/** The place of a slot on the axis, from 0 at its left end to `slots - 1`. */
export const placeOf = ({ slots, shift }: Slots, slot: number): number => (slot < slots - 1 ? slot + shift : slot);

/** The slot that is nearest to a place. */
export function nearestSlot({ slots, shift }: Slots, place: number): number {
  const last = slots - 1;
  const isLast = place >= (last + placeOf({ slots, shift }, last - 1)) / 2;
  return isLast ? last : Math.max(0, Math.min(Math.round(place - shift), last - 1));
}
