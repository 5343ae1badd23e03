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
