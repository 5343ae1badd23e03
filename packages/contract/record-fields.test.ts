import { expect, test } from 'vitest';
import { recordFields, recordWith, valueAt } from './record-fields.ts';

test('the fields have the order, names and types of the contract', () => {
  expect(recordFields.map(({ name, column, type }) => `${name} ${column} ${type}`)).toEqual([
    'id id text',
    'status status text',
    'activationDate activation_date instant',
    'expirationDate expiration_date instant',
    'createdDate created_date instant',
    'product.id product_id text',
    'product.name product_name text',
    'product.period product_period integer',
    'product.period_unit product_period_unit text',
    'product.plan_id product_plan_id text',
    'iccid iccid text',
    'device_id device_id text',
    'auto_renew auto_renew boolean',
  ]);
  const named = (is: 'isOptional' | 'mayBeEmpty') => recordFields.filter((field) => field[is]).map(({ name }) => name);
  expect(named('isOptional')).toEqual([
    'status',
    ...['name', 'period', 'period_unit', 'plan_id'].map((name) => `product.${name}`),
  ]);
  expect(named('mayBeEmpty')).toEqual(['product.name', 'product.plan_id', 'device_id']);
});

test('a record is written from its values in the order of the contract', () => {
  const record = { iccid: '8', product: { plan_id: 'p', id: 'q' }, id: 'a' };
  expect(JSON.stringify(recordWith((field) => valueAt(record, field)))).toBe(
    '{"id":"a","product":{"id":"q","plan_id":"p"},"iccid":"8"}',
  );
});
