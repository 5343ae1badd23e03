import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseForm, repeatedNames } from './form.ts';

test('reads pairs in their order, blanks as + or %20, names without a value', () => {
  expect(parseForm('a=1&b=x+y%20z&&c&d=&=e&f=1=2')).toEqual({
    pairs: [
      { name: 'a', value: '1' },
      { name: 'b', value: 'x y z' },
      { name: 'c', value: '' },
      { name: 'd', value: '' },
      { name: '', value: 'e' },
      { name: 'f', value: '1=2' },
    ],
    malformed: [],
  });
});

test.each(['%ZZ', '%', '%E0%A4%A', '%ff', 'x=%C3%28'])(
  'says that %s cannot be decoded, in a name or a value',
  (part) => {
    expect(parseForm(`a=1&${part}`)).toEqual({ pairs: [{ name: 'a', value: '1' }], malformed: [part] });
  },
);

test('reads what URLSearchParams writes (property)', () => {
  const text = fc.string({ unit: 'grapheme' });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
      const read = parseForm(new URLSearchParams(pairs).toString());
      expect(read.malformed).toEqual([]);
      expect(read.pairs.map(({ name, value }) => [name, value])).toEqual(pairs);
    }),
  );
});

test('never throws (property)', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseForm(text)));
});

test('finds names that stand more than once', () => {
  expect([...repeatedNames(parseForm('a=1&b=1&a=2&a=3&__proto__=1').pairs)]).toEqual(['a']);
});
