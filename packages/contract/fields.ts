import type { FormPair } from './form.ts';
import { type Fault, shorten } from './problem.ts';
import { recordFields } from './record-fields.ts';
import { exampleOf, ruleOf } from './schema.ts';
import { didYouMean, suggestionsMax } from './suggest.ts';
import { Type } from './type.ts';

/** The values in the list `fields`: the fields of a record, and `product` for all of its fields. */
export const fieldNames: readonly string[] = [
  ...new Set(recordFields.flatMap(({ name, path: [member = ''] }) => [member, name])),
];

/** The names of `recordFields` that a value in the list selects. */
const selectedBy = (value: string): readonly string[] =>
  recordFields.flatMap(({ name, path }) => (name === value || path[0] === value ? [name] : []));

const pattern = `(?:${fieldNames.map((name) => name.replace('.', '\\.')).join('|')})`;

/** The parameter `fields`, whose description begins with what it applies to. */
export const fieldsOf = (subject: string, more = '') =>
  Type.String({
    pattern: `^${pattern}(?:,${pattern}){0,${recordFields.length - 1}}$`,
    maxLength: recordFields.map(({ name }) => name).join().length,
    description: `${subject} only these fields, separated by commas; product has all of its fields${more}`,
    'x-rule': `names separated by commas, each once, of ${fieldNames.join(', ')}`,
    examples: ['iccid,status,expirationDate', 'id,product.name'],
  });

/** The same as a list of strings. */
export const fieldList = Type.Array(Type.Enum(fieldNames, { type: 'string' }), {
  minItems: 1,
  maxItems: recordFields.length,
});

/**
 * Reads the list `fields`: the names of `recordFields` that it selects, in its order, and a fault
 * for each name that is unknown, repeated, or part of another one.
 */
export function readFields(text: string): { readonly fields: readonly string[]; readonly faults: readonly Fault[] } {
  const names = text.split(',');
  const distinct = [...new Set(names)];
  const fields = distinct.flatMap(selectedBy);
  const faults = distinct
    .filter((name) => !fieldNames.includes(name))
    .map((name, index) => fault(name, index < suggestionsMax ? didYouMean(name, fieldNames) : ''));
  const repeated = distinct.filter(
    (name) => fieldNames.includes(name) && names.indexOf(name) !== names.lastIndexOf(name),
  );
  const contained = distinct.filter(
    (name) => !repeated.includes(name) && fields.indexOf(name) !== fields.lastIndexOf(name),
  );
  return {
    fields,
    faults: [
      ...faults,
      ...repeated.map((name) => fault(name)),
      ...contained.map((name) => fault(name, `; '${name.split('.')[0]}' contains '${name}'`)),
    ],
  };
}

/** Reads the parameter `fields`, if it is given, and adds its faults. */
export function takeFields(pairs: readonly FormPair[], faults: Fault[]): readonly string[] | undefined {
  const text = pairs.find(({ name }) => name === 'fields')?.value;
  if (text === undefined) return undefined;
  const asked = readFields(text);
  faults.push(...asked.faults);
  return asked.fields;
}

const schema = fieldsOf('');

/** A suggestion needs no list of all names. */
const fault = (name: string, suggestion = ''): Fault => ({
  parameter: 'fields',
  value: shorten(name),
  rule: suggestion ? `names separated by commas, such as ${exampleOf(schema)}${suggestion}` : ruleOf(schema),
});
