/**
 * What V8 takes for a value beside its contents, in bytes: measured with `process.memoryUsage()`,
 * rounded up.
 */
const overhead = { string: 24, buffer: 160, collection: 80, item: 40, object: 40, property: 16 } as const;

/**
 * About how many bytes a value takes in memory with everything that it holds. It must be plain data
 * without cycles: strings, numbers, buffers, arrays, sets, objects.
 */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return overhead.string + Buffer.byteLength(value);
  // it stands in the place that `property` or `item` counts
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
