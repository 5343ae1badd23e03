import { describe, expect, test } from 'vitest';
import { codedTag, entityTag, matchesTag } from './etag.ts';

const tag = entityTag(['acme', 7, { size: 20 }]);

describe('entity tags', () => {
  test('entity tags are equal for equal parts and differ for others', () => {
    expect(entityTag(['acme', 7, { size: 20 }])).toBe(tag);
    for (const parts of [['acme', 8, { size: 20 }], ['globex', 7, { size: 20 }], ['acme', 7, { size: 21 }], []])
      expect(entityTag(parts)).not.toBe(tag);
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
