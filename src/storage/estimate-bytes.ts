/** V8's overhead of a value in bytes, measured with `process.memoryUsage()` and rounded up. */
const overhead = { string: 24, buffer: 160, collection: 80, item: 40, object: 40, property: 16 } as const;

/**
 * Estimates the bytes of memory that a value takes with everything that it contains. The value must
 * be plain data without cycles: strings, numbers, buffers, arrays, sets, objects.
 */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return overhead.string + Buffer.byteLength(value);
  // the caller has counted it as a `property` or an `item`
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof Uint8Array) return overhead.buffer + value.byteLength;
  if (Array.isArray(value) || value instanceof Set) {
    let bytes: number = overhead.collection;
    for (const item of value) bytes += overhead.item + estimateBytes(item);
    return bytes;
  }
  let bytes: number = overhead.object;
  for (const item of Object.values(value)) bytes += overhead.property + estimateBytes(item);
  return bytes;
}
