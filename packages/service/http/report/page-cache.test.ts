import { describe, expect, test } from 'vitest';
import { codedTag, createPageCache, entityTag, matchedTag } from './page-cache.ts';

const page = (bytes: number) => ({ body: Buffer.alloc(bytes), headers: { etag: '' }, revision: 1 });

describe('the page cache', () => {
  test('the page cache returns what was set', () => {
    const cache = createPageCache(1_000_000);
    const one = page(10);
    cache.set('a', one);
    expect([cache.get('a'), cache.get('b')]).toEqual([one, undefined]);
  });

  test('the page cache stays within its bytes by evicting the least recently used pages', () => {
    const cache = createPageCache(90_000);
    // some 10,500 bytes each, with the overhead of an entry
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) cache.set(key, page(10_000));
    expect(cache.get('a')).toBeDefined();
    cache.set('i', page(10_000));
    expect([cache.get('a') !== undefined, cache.get('b')]).toEqual([true, undefined]);
  });

  test('a page that is set again counts once', () => {
    const cache = createPageCache(100_000);
    cache.set('a', page(1_000));
    for (let n = 0; n < 1_000; n += 1) cache.set('b', page(1_000));
    expect(cache.get('a')).toBeDefined();
  });

  test('a page larger than an eighth of the page cache is not cached', () => {
    const cache = createPageCache(100_000);
    cache.set('a', page(12_500));
    expect(cache.get('a')).toBeUndefined();
  });

  test('the page cache counts keys and headers, not only bodies', () => {
    const cache = createPageCache(90_000);
    const headers = { link: 'x'.repeat(5_000), etag: '' };
    for (let n = 0; n < 20; n += 1) cache.set(`${n} ${'k'.repeat(5_000)}`, { ...page(0), headers });
    const kept = Array.from({ length: 20 }, (_, n) => cache.get(`${n} ${'k'.repeat(5_000)}`)).filter(Boolean);
    expect(kept).toHaveLength(8);
  });

  test('the page cache copies a body that is part of a larger buffer', () => {
    const cache = createPageCache(100_000);
    cache.set('a', { ...page(0), body: Buffer.alloc(10_000).subarray(0, 10) });
    expect(cache.get('a')?.body.buffer.byteLength).toBe(10);
  });

  test('a page cache of 0 bytes keeps nothing', () => {
    const cache = createPageCache(0);
    cache.set('a', page(0));
    expect(cache.get('a')).toBeUndefined();
  });
});

const tag = entityTag(7, '["acme",20]');

describe('entity tags', () => {
  test('entity tags are equal for an equal revision and cache key, and differ for others', () => {
    expect(entityTag(7, '["acme",20]')).toBe(tag);
    for (const [revision, cacheKey] of [
      [8, '["acme",20]'],
      [7, '["globex",20]'],
      [7, '["acme",21]'],
      [0, ''],
    ] as const)
      expect(entityTag(revision, cacheKey)).not.toBe(tag);
    expect(tag).toMatch(/^"[\w-]{27}"$/);
  });

  test('entity tags differ between codings, as the bytes do', () => {
    expect(new Set([tag, codedTag(tag, 'br'), codedTag(tag, 'gzip')]).size).toBe(3);
  });

  test.each([
    [tag, tag],
    [`W/${tag}`, tag],
    [`"other", ${tag}`, tag],
    [`"other",${tag},"more"`, tag],
    [codedTag(tag, 'zstd'), codedTag(tag, 'zstd')],
    [`W/${codedTag(tag, 'br')}`, codedTag(tag, 'br')],
    [`${tag}, ${codedTag(tag, 'zstd')}, ${codedTag(tag, 'gzip')}`, codedTag(tag, 'gzip')],
  ])('If-None-Match: %s with Accept-Encoding: gzip names %s', (header, named) => {
    expect(matchedTag(header, tag, 'gzip')).toBe(named);
  });

  test('without a coding, the tag of the plain response comes first', () => {
    expect(matchedTag(`${codedTag(tag, 'gzip')}, ${tag}`, tag)).toBe(tag);
  });

  test.each([
    [undefined],
    ['*'],
    [''],
    ['"other"'],
    [tag.slice(1, -1)],
    [codedTag(tag, 'x')],
    [`"${'a'.repeat(5_000)}`],
  ])('If-None-Match: %s names no response', (header) => {
    expect(matchedTag(header, tag)).toBeUndefined();
  });
});
