import { describe, expect, test } from 'vitest';
import { createPageCache } from './page-cache.ts';

const page = (bytes: number) => ({ body: Buffer.alloc(bytes), headers: {}, revision: 1 });

describe('the page cache', () => {
  test('gives back what was set', () => {
    const cache = createPageCache(1_000_000);
    const one = page(10);
    cache.set('a', one);
    expect([cache.get('a'), cache.get('b')]).toEqual([one, undefined]);
  });

  test('keeps no more bytes than allowed: pages used longest ago make room', () => {
    const cache = createPageCache(100_000);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) cache.set(key, page(10_000)); // 12,048 each with what an entry costs
    expect(cache.get('a')).toBeDefined();
    cache.set('i', page(10_000));
    expect([cache.get('a') !== undefined, cache.get('b')]).toEqual([true, undefined]);
  });

  test('a key that is set again counts once', () => {
    const cache = createPageCache(100_000);
    cache.set('a', page(1_000));
    for (let n = 0; n < 1_000; n += 1) cache.set('b', page(1_000));
    expect(cache.get('a')).toBeDefined();
  });

  test('a page larger than an eighth of it is not kept', () => {
    const cache = createPageCache(100_000);
    cache.set('a', page(11_000));
    expect(cache.get('a')).toBeUndefined();
  });

  test('of 0 bytes keeps nothing', () => {
    const cache = createPageCache(0);
    cache.set('a', page(0));
    expect(cache.get('a')).toBeUndefined();
  });
});
