import { expect, test } from 'vitest';
import { fieldNames, fieldsOf, readFields } from './fields.ts';
import { recordFields } from './record-fields.ts';
import { fitsText } from './schema.ts';

const rulesOf = (text: string) =>
  readFields(text).faults.map(({ value, rule }) => [value, /did you mean.*/.exec(rule)?.[0]]);

test('the list names the fields of a record, and product all of its fields', () => {
  expect(fieldNames.filter((name) => name !== 'product')).toEqual(recordFields.map(({ name }) => name));
  expect(fieldNames[fieldNames.indexOf('product') + 1]).toBe('product.id');
  expect(readFields('iccid,product,id')).toEqual({
    fields: ['iccid', ...fieldNames.filter((name) => name.startsWith('product.')), 'id'],
    faults: [],
  });
});

test('every unknown, empty or repeated name has a fault with the rule, an example and a suggestion', () => {
  expect(readFields('iccd').faults).toEqual([
    {
      parameter: 'fields',
      value: 'iccd',
      rule: "names separated by commas, such as iccid,status,expirationDate; did you mean 'iccid'?",
    },
  ]);
  expect(readFields('x').faults[0]?.rule).toBe(
    `names separated by commas, each once, of ${fieldNames.join(', ')}, such as iccid,status,expirationDate`,
  );
  expect(rulesOf('Status,,product_name,email,id,id')).toEqual([
    ['Status', "did you mean 'status'?"],
    ['', undefined],
    ['product_name', "did you mean 'product.name'?"],
    ['email', undefined],
    ['id', undefined],
  ]);
  expect(rulesOf('product.name,product')).toEqual([['product.name', undefined]]);
  expect(rulesOf('')).toEqual([['', undefined]]);
});

test('the schema has every list of distinct names, and none with an unknown one', () => {
  const schema = fieldsOf('Returns');
  const all = recordFields.map(({ name }) => name);
  for (const text of [all.join(), all.toReversed().join(), 'product', 'product,id', ...fieldNames])
    expect([text, fitsText(schema, text), readFields(text).faults]).toEqual([text, true, []]);
  for (const text of ['', ',', 'id,', 'iD', 'id, iccid', 'productXname', `${all.join()},id`])
    expect([text, fitsText(schema, text), readFields(text).faults.length > 0]).toEqual([text, false, true]);
});
