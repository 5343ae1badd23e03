import { expect, test } from 'vitest';
import { MappingError, parseMapping } from './column-mapping.ts';

test('constants may be texts, true, false and integers', () => {
  const constants = '{"product.period_unit":"DAYS","auto_renew":false,"product.period":30}';
  expect(parseMapping(`{"constants":${constants}}`)).toEqual({
    columns: {},
    constants: { 'product.period_unit': 'DAYS', auto_renew: 'false', 'product.period': '30' },
  });
});

test.each(['8944500102198304826', '1.50', '1e3000', 'null', '""', '{}', '[]'])(
  'the constant %s is refused, because it is no text or not kept as it is written',
  (value) => {
    expect(() => parseMapping(`{"constants":{"product.plan_id":${value}}}`)).toThrow(MappingError);
  },
);

test.each(['id', 'iccid', 'email'])('a constant for %s, which each record has for itself, is refused', (field) => {
  const constants = JSON.stringify({ [field]: '8944500102198304826' });
  expect(() => parseMapping(`{"constants":${constants}}`)).toThrow(`must not have '${field}'`);
  expect(parseMapping(`{"columns":${constants}}`).columns).toHaveProperty([field]);
});

test('an empty text is a constant of a field that may be empty, and of no other', () => {
  expect(parseMapping('{"constants":{"device_id":""}}').constants).toEqual({ device_id: '' });
  expect(() => parseMapping('{"constants":{"auto_renew":""}}')).toThrow("must have a text for 'auto_renew'");
  expect(() => parseMapping('{"columns":{"device_id":""}}')).toThrow("must have a text for 'device_id'");
});

test('a mapping is at most as long as it may be in a query string, also once numbers are texts', () => {
  const long = `{"columns":{"iccid":"${'x'.repeat(2_048 - 60)}"},"constants":{"auto_renew":false}}`;
  expect(long.length).toBeLessThanOrEqual(2_048);
  expect(() => parseMapping(long.replace('x', ''.padEnd(4, 'x')))).toThrow('at most 2048 characters');
});
