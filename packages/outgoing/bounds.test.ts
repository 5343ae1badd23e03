import { expect, test } from 'vitest';
import { BoundError, readText, responseBytesMax } from './bounds.ts';

const largest = Buffer.alloc(responseBytesMax, ' ');

test.each(['json', 'lines'] as const)(
  'a response of %s may have as many bytes as the bound, and no more',
  async (kind) => {
    async function* partsOf(...parts: readonly Uint8Array[]) {
      yield* parts;
    }
    expect((await readText(partsOf(largest), 'http://a', kind)).length).toBe(responseBytesMax);
    const more = readText(partsOf(largest, Buffer.from(' ')), 'http://a', kind);
    await expect(more).rejects.toThrow(BoundError);
    await expect(more).rejects.toThrow(`it must be at most ${responseBytesMax} bytes`);
  },
);
