import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DepthError, parseJson, parseJsonObject, RepeatedError } from './json-object.ts';

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
  expect(() => parseJson(text, 20)).toThrow(RepeatedError);
  expect(() => parseJson(text, 20)).toThrow(expect.objectContaining({ path }));
});

test('a text whose members differ is parsed as JSON.parse does (property)', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1), (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      expect(parseJson(text, 20)).toEqual(JSON.parse(text));
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
    expect(parseJson(text, 20)).toEqual(expected);
    expect(parseJsonObject(Buffer.from(text))?.members).toEqual(expected);
  },
);

test('a text that is too deep, or is no JSON, is refused', () => {
  expect(parseJson('[[]]', 2)).toEqual([[]]);
  expect(() => parseJson('[[[]]]', 2)).toThrow(DepthError);
  expect(() => parseJson('['.repeat(500_000) + ']'.repeat(500_000), 4)).toThrow(DepthError);
  expect(() => parseJson('{"a":1,"a"', 20)).toThrow(SyntaxError);
});

test('the names of a request body have each repeated one once more', () => {
  expect(parseJsonObject(Buffer.from('{"a":1,"b":[{"c":1,"c":2}],"a":3}'))?.names).toEqual(['a', 'b', 'b.c', 'a']);
});
