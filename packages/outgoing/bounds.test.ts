import { expect, test } from 'vitest';
import { BoundError, followJson, readText, responseBytesMax } from './bounds.ts';

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

const bounds = { depthMax: 2, valuesMax: 100 };

test.each([
  ['{"a":"\\\\\\"[[[","漢":[1,{}],"b":"]]\\\\"}', false],
  ['{"a":"\\\\\\"[[[","漢":[1,2],"b":"]]\\\\"}', true],
  ['["\\\\","\\\\\\\\",[1]]', true],
  ['["\\\\",[[1]]]', false],
])('a text is followed alike wherever it is cut: %s', (text, isWithin) => {
  for (let first = 0; first <= text.length; first += 1)
    for (let second = first; second <= text.length; second += 1) {
      const follow = followJson(bounds);
      const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      expect([parts, parts.every(follow)]).toEqual([parts, isWithin]);
    }
});

// joined parts took many minutes
test('a text of 20 MiB is followed in parts of 1 MiB that end within strings', () => {
  const follow = followJson({ depthMax: 2, valuesMax: 2 ** 21 });
  const part = `${'content","'.repeat(2 ** 20 / 10)}`;
  for (const text of ['["', ...Array<string>(20).fill(part), 'content"', ']']) expect(follow(text)).toBe(true);
  expect(follow('[[[')).toBe(false);
});
