import { expect, test } from 'vitest';
import { followJson } from './json-object.ts';

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
