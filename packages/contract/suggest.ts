/**
 * Returns the known name that is most similar to a misspelled one, as `foldName` compares them, or
 * `undefined` if more than a third of its letters differ.
 *
 * @example suggest('productid', ['product-id', 'page']) // 'product-id'
 */
export function suggest(name: string, known: Iterable<string>): string | undefined {
  const wanted = foldName(name.slice(0, longest));
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of [...known].slice(0, comparedMax)) {
    const folded = foldName(candidate);
    // the lengths alone differ by more: the distance need not be computed
    if (Math.abs(folded.length - wanted.length) > differenceMax(candidate)) continue;
    const distance = editDistance(wanted, folded);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best !== undefined && bestDistance <= differenceMax(best) ? best : undefined;
}

/** Most known names that a misspelled one is compared with: each takes some microseconds. */
const comparedMax = 1_000;

const differenceMax = (known: string): number => Math.max(1, known.length / 3);

/** Most suggestions of one message: each takes some microseconds to milliseconds. */
export const suggestionsMax = 20;

/** `; did you mean 'size'?` if a known name is similar, otherwise an empty string. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = suggest(name, known);
  return near === undefined ? '' : `; did you mean '${near}'?`;
}

const longest = 64;

/** A name as it is compared: without case, blanks and the characters `-_.[]`. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[-_.[\]\s]/g, '');

/** Levenshtein distance, computed row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
