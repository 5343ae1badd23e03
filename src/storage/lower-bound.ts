/**
 * How many of the indexes from 0 to `length` lie before a boundary: `isBefore` is true for all
 * indexes up to it and false from there on. Takes O(log `length`) calls.
 */
export function lowerBound(length: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
