import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Type as typebox } from 'typebox';
import { expect, test } from 'vitest';
import { Type } from './type.ts';

/** A schema that uses each builder, with and without options. */
const schemaWith = (builders: typeof Type) =>
  builders.Object(
    {
      text: builders.String({ pattern: '^a', examples: ['a'] }),
      count: builders.Optional(builders.Integer({ minimum: 1 })),
      ratio: builders.Number({ maximum: 1 }),
      isActive: builders.Boolean({ description: 'whether it is active' }),
      either: builders.Union([builders.Null(), builders.Array(builders.String(), { maxItems: 2 })], {
        title: 'either',
      }),
      nothing: builders.Object({ later: builders.Optional(builders.Literal(true)) }),
      purpose: builders.Enum(['access', 'refresh'], { type: 'string' }),
      word: builders.Literal('Bearer', { maxLength: 6 }),
      zero: builders.Literal(0),
    },
    { additionalProperties: false },
  );

test('a schema is the same as one that typebox builds, in the same order', () => {
  expect(JSON.stringify(schemaWith(Type))).toBe(JSON.stringify(schemaWith(typebox)));
});

test('no schema of the OpenAPI documents has fixed values and a length: generated code would not compile', () => {
  const documents = ['openapi.json', 'openapi-operator.json'].map((name): unknown =>
    JSON.parse(readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')),
  );
  const schemasIn = (value: unknown): object[] =>
    typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(schemasIn)] : [];
  const schemas = documents.flatMap(schemasIn).filter((schema) => 'enum' in schema);
  expect(schemas.length).toBeGreaterThan(50);
  expect(schemas.filter((schema) => 'maxLength' in schema)).toEqual([]);
});

test('a schema that is optional in one object is required where it is used itself', () => {
  const shared = Type.String();
  expect(Type.Object({ first: Type.Optional(shared), second: shared }).required).toEqual(['second']);
});

test('no file of packages/ loads typebox at run time, except to check the rows of an import', () => {
  const folder = fileURLToPath(new URL('../', import.meta.url));
  const importing = globSync('**/*.ts', { cwd: folder, exclude: ['*/test/**'] }).filter(
    (file) =>
      !file.endsWith('.test.ts') &&
      /^(import|export) (?!type )[^;]*from 'typebox/m.test(readFileSync(`${folder}${file}`, 'utf8')),
  );
  expect(importing.toSorted()).toEqual(['service/import/check-row.ts']);
});
