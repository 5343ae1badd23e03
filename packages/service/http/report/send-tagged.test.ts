import { describe, expect, test } from 'vitest';
import { codedTag, entityTag, matchedTag } from './send-tagged.ts';

const tag = entityTag(7, '["acme",20]');

describe('entity tags', () => {
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
