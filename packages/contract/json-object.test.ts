import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundsError, followJson, parseJson, parseJsonObject, RepeatedError } from './json-object.ts';

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

const wide = { depthMax: 20, valuesMax: 10_000 };

test.each([
  ['{"id":"a","id":"b"}', 'id'],
  ['{"id":"a","\\u0069d":"b"}', 'id'],
  ['{"id" : "a" , "id"\t: "a"}', 'id'],
  ['{"a":[{"b":1},{"b":2,"c":{"d":1,"d":1}}]}', 'a.c.d'],
  ['[{"a":1},{"a":{"x":":"},"a":2}]', 'a'],
  ['{"product":{"id":"p","name":"\\":{","id":"q"}}', 'product.id'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"":1,"":2}', ''],
])('a text with a repeated member is refused, and the member is named: %s', (text, path) => {
  expect(() => parseJson(text, wide)).toThrow(RepeatedError);
  expect(() => parseJson(text, wide)).toThrow(expect.objectContaining({ path }));
});

test('a text whose members differ is parsed as JSON.parse does (property)', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      expect(parseJson(text, wide)).toEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

// https://github.com/nodejs/node/issues/63785; the first member keeps the names of other tests apart
test.each(['\\u0069', '\\u0069d', 'i\\u0064', '\\u0069\\u0064', '\\u0070eriod'])(
  'the name %s has its meaning, whatever names earlier objects had in its place',
  (written) => {
    const name: string = JSON.parse(`"${written}"`);
    const raw = written.slice(0, name.length);
    const first = `first-${written}`;
    JSON.parse(JSON.stringify({ [first]: [], [raw]: 0 }));
    const text = `{${JSON.stringify(first)}:1,"${written}" :{"${written}":"\\u0069d\\":"}}`;
    const expected = { [first]: 1, [name]: { [name]: 'id":' } };
    expect(parseJson(text, wide)).toEqual(expected);
    expect(parseJsonObject(Buffer.from(text))?.members).toEqual(expected);
  },
);

test('a text that exceeds a bound, or is no JSON, is refused', () => {
  expect(() => parseJson('[[[]]]', bounds)).toThrow(BoundsError);
  expect(() => parseJson('{"a":1,"a"', wide)).toThrow(SyntaxError);
});
