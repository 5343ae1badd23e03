/** The service did something that the model does not explain. */
export class Difference extends Error {
  override readonly name = 'Difference';
}

/**
 * A failed request that only a fault of the same round explains: no connection, a truncated body,
 * repeated refusals.
 */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Throws `Difference` unless both are equal. */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [foundText, expectedText] = [JSON.stringify(found), JSON.stringify(expected)];
  if (foundText === expectedText) return;
  throw new Difference(`${what}: found ${shorten(foundText)}, expected ${shorten(expectedText)}`);
}

/** Throws `Difference`, naming the first position where two lists differ, unless they are equal. */
export function expectSameList(what: string, found: readonly string[], expected: readonly string[]): void {
  const place = found.findIndex((text, index) => text !== expected[index]);
  if (place < 0 && found.length === expected.length) return;
  const at = place < 0 ? Math.min(found.length, expected.length) : place;
  throw new Difference(
    `${what}: ${found.length} records, expected ${expected.length}; the first difference is at ${at}: ` +
      `found ${shorten(found[at])}, expected ${shorten(expected[at])}`,
  );
}

const shorten = (text = 'nothing'): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text);
