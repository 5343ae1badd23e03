import { expect, test } from 'vitest';
import { estimateBytes } from './estimate-bytes.ts';

test('the estimate of a value grows by the bytes of its strings and buffers, however deep they are', () => {
  const base = estimateBytes({ id: '', list: [''], set: new Set(['']), body: Buffer.alloc(0), none: null, n: 1 });
  const grown = { id: 'é', list: ['12345'], set: new Set(['123']), body: Buffer.alloc(1_000), none: null, n: 2 };
  expect(estimateBytes(grown)).toBe(base + 2 + 5 + 3 + 1_000);
});
