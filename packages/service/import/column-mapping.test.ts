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
  expect(() => parseMapping(`{"values":{"${field}":{"a":"b"}}}`)).toThrow(`must not have '${field}'`);
  expect(parseMapping(`{"columns":${constants}}`).columns).toHaveProperty([field]);
});

test('values of a field may mean texts, true, false and integers, or nothing if the field may be absent', () => {
  const values = '{"status":{"A":"ACTIVE","-":""},"auto_renew":{"1":true},"product.period":{"M":30}}';
  expect(parseMapping(`{"values":${values}}`).values).toEqual({
    status: { A: 'ACTIVE', '-': '' },
    auto_renew: { 1: 'true' },
    'product.period': { M: '30' },
  });
});

test.each([
  ['{},"column":{}', "it has 'column'"],
  ['[]', "'values' must be a JSON object"],
  ['{"statu":{"A":"ACTIVE"}}', "'statu' is none; did you mean 'status'?"],
  ['{"status":"ACTIVE"}', `'values.status' must be a JSON object, such as {"A":"ACTIVE"}`],
  ['{"status":{}}', "'values.status' must be a JSON object"],
  ['{"status":{"A":null}}', "'values.status' must have a text for 'A'"],
  ['{"status":{"A":{"B":"ACTIVE"}}}', "must be a JSON object with 'columns', 'constants' and 'values'"],
  ['{"status":{"A":"ACTIVE","A":"EXPIRED"}}', "'values.status.A' must be given once"],
  ['{"auto_renew":{"Y":"maybe"}}', "'values.auto_renew' must have valid values: 'Y' is 'maybe'"],
  ['{"auto_renew":{"Y":""}}', "'Y' is ''"],
  ['{"product.period":{"M":"month"}}', "'M' is 'month'"],
  ['{"expirationDate":{"9999":"never"}}', "'9999' is 'never'"],
])('the values %s are refused', (values, rule) => {
  expect(() => parseMapping(`{"values":${values}}`)).toThrow(rule);
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
