import { describe, expect, test } from 'vitest';
import { codedTag, entityTag, matchesTag } from './etag.ts';

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
    [tag],
    [`W/${tag}`],
    [`"other", ${tag}`],
    [`"other",${tag},"more"`],
    [codedTag(tag, 'zstd')],
    [`W/${codedTag(tag, 'gzip')}`],
  ])('If-None-Match: %s matches the tag', (header) => {
    expect(matchesTag(header, tag)).toBe(true);
  });

  test.each([
    [undefined],
    ['*'],
    [''],
    ['"other"'],
    [tag.slice(1, -1)],
    [codedTag(tag, 'x')],
    [`"${'a'.repeat(5_000)}`],
  ])('If-None-Match: %s does not match the tag', (header) => {
    expect(matchesTag(header, tag)).toBe(false);
  });
});
