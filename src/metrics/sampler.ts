/**
 * Makes the function that returns a value as last read, and reads it again once it is older than
 * `maxAgeMs`. If that fails, it returns the older value; `subreport_ready` reports the store.
 */
export function createSampler<T>(read: () => Promise<T>, maxAgeMs: number): () => Promise<T | undefined> {
  let value: Promise<T | undefined> = Promise.resolve(undefined);
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - readAt < maxAgeMs) return value;
    readAt = performance.now();
    const older = value;
    value = read().catch(() => older);
    return value;
  };
}
