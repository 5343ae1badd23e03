import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import type { OperatorOperation } from './operator/operation.ts';
import { operatorOperations } from './operator/operations.ts';
import { Product } from './product.ts';
import { reportParameters } from './query.ts';
import { defaultPageLimits } from './report.ts';
import { exampleOf, fitsText, readWholeNumber, ruleOf } from './schema.ts';
import { Email, Subscription } from './subscription.ts';

const single: Record<string, TSchema> = {
  ...Object.fromEntries(Object.entries(Subscription.properties).filter(([name]) => name !== 'product')),
  ...Object.fromEntries(Object.entries(Product.properties).map(([name, schema]) => [`product.${name}`, schema])),
  ...Object.fromEntries(
    Object.entries(reportParameters(defaultPageLimits)).map(([name, schema]) => [`?${name}`, schema]),
  ),
  email: Email,
};

describe.each(Object.entries(single))('%s', (_name, schema) => {
  test('says its rule with an example, and every example is right', () => {
    expect(ruleOf(schema)).toContain(exampleOf(schema));
    for (const example of (schema as { examples?: unknown[] }).examples ?? [])
      expect(Check(schema, example)).toBe(true);
  });

  test('bounds its text or number (OWASP API4)', () => {
    const { type, enum: values, maxLength, minimum, maximum } = schema as Readonly<Record<string, unknown>>;
    expect(type === 'string' ? [values ?? maxLength] : [minimum, maximum]).not.toContain(undefined);
  });
});

const operations: Readonly<Record<string, Partial<OperatorOperation>>> = operatorOperations;
const members = Object.entries(operations).flatMap(([operation, { body }]) =>
  Object.entries(body?.properties ?? {}).map(([name, schema]) => [`${operation} ${name}`, schema] as const),
);

test.each(members)('%s, a member of a body, says its rule with an example', (_name, schema) => {
  expect(ruleOf(schema)).toContain(exampleOf(schema));
});

test('a schema that cannot be described is a defect', () => {
  expect(() => ruleOf({ type: 'string' } as TSchema)).toThrow(TypeError);
});

test('fitsText takes patterns as wholes and counts lengths', () => {
  expect(fitsText(Subscription.properties.iccid, '8944500102198304')).toBe(true);
  for (const text of ['', '1'.repeat(14), '1'.repeat(23), '89445001021983048x', '8944500102198304\n']) {
    expect(fitsText(Subscription.properties.iccid, text)).toBe(false);
  }
});

test.each([
  ['product-id', 128],
  ['device-id', 128],
  ['plan-id', 128],
  ['email', 254],
] as const)('%s may have %i characters beyond the basic plane, as a record may (T6)', (name, most) => {
  const schema = reportParameters(defaultPageLimits)[name];
  expect(fitsText(schema, '\u{1f600}'.repeat(most))).toBe(true);
  expect(fitsText(schema, '\u{1f600}'.repeat(most + 1))).toBe(false);
  expect(Check(schema, '\u{1f600}'.repeat(most))).toBe(true);
});

test.each([
  ['1', 1],
  ['1000', 1000],
  ['0', undefined],
  ['1001', undefined],
  ['05', undefined],
  ['+5', undefined],
  ['1.5', undefined],
  ['1e2', undefined],
  ['0x10', undefined],
  [' 5', undefined],
  ['', undefined],
  ['Infinity', undefined],
  ['５', undefined],
  ['9223372036854775808', undefined],
])('readWholeNumber reads %j as %s', (text, number) => {
  expect(readWholeNumber(reportParameters(defaultPageLimits).size, text)).toBe(number);
});
