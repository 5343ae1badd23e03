import { describe, expect, test } from 'vitest';
import { misshapeOf } from './json-value.ts';
import { Type } from './type.ts';

describe('misshapeOf', () => {
  const schema = Type.Object({
    count: Type.Integer(),
    kind: Type.Enum(['one', 'two']),
    day: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    items: Type.Array(Type.Object({ name: Type.String() })),
  });
  const right = { count: 1, kind: 'one', items: [{ name: 'a' }] };

  test.each([
    ['what the schema says', right],
    ['more members and other values of an open set', { ...right, kind: 'three', day: null, more: [] }],
    ['another value of a union', { ...right, day: 'Monday' }],
  ])('accepts %s', (_name, value) => {
    expect(misshapeOf(schema, value, 'it')).toBeUndefined();
  });

  test.each([
    [null, 'it must be an object'],
    [[right], 'it must be an object'],
    [{ ...right, count: undefined }, 'it.count must be given'],
    [{ ...right, count: '1' }, 'it.count must be an integer'],
    [{ ...right, count: 1.5 }, 'it.count must be an integer'],
    [{ ...right, kind: null }, 'it.kind must be a string'],
    [{ ...right, day: 7 }, 'it.day must be a string'],
    [{ ...right, items: {} }, 'it.items must be an array'],
    [{ ...right, items: [{ name: 'a' }, null] }, 'it.items[1] must be an object'],
  ])('names the first fault of %j', (value, fault) => {
    expect(misshapeOf(schema, value, 'it')).toBe(fault);
  });
});
