import type { TProperties, TSchema } from 'typebox';
import { Type } from './type.ts';

/**
 * Returns the rule of a schema as the end of a sentence: `15 to 22 digits, such as
 * 8944500102198304826`. A rule that lists all values has no example: `one of utc, local`.
 *
 * Besides JSON Schema, every schema of a single value has `x-rule` (the rule in words) and
 * `examples` (the first one is valid), so that validation, OpenAPI and error messages come from one
 * definition.
 */
export function ruleOf(schema: TSchema): string {
  const { rule, example } = annotation(schema);
  return (schema as { enum?: unknown }).enum === undefined ? `${rule}, such as ${example}` : rule;
}

/** Returns the first example of a schema: a valid value. */
export function exampleOf(schema: TSchema): string {
  return annotation(schema).example;
}

/** What the dates that the service accepts must be. */
export const dateTimeRule = 'an ISO 8601 date-time with Z, UTC or an offset';

/** Pattern of strings that people write: anything but control characters. */
export const plainText = '^[^\\u0000-\\u001f\\u007f]*$';

/**
 * A character of a value that the specification leaves open, within a pattern: any but a comma, a
 * control character (C0, DEL, C1), and the line and paragraph separators of Unicode.
 */
export const openCharacter = '[^,\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]';

/** The length and pattern of an open value, which is kept as it is, including its blanks. */
export const openValue = {
  pattern: `^${openCharacter}{1,64}$`,
  minLength: 1,
  maxLength: 64,
  'x-rule': '1 to 64 printable characters without a comma',
} as const;

/** Pattern of strings for machines: printable ASCII. */
export const printableAscii = '^[\\x20-\\x7e]*$';

/** The schema of a string of printable ASCII, with an example if any is useful. */
export const printable = (maxLength: number, description: string, example?: string) =>
  stringOf(printableAscii, maxLength, description, example);

/** The same for a string that people write, with its rule. */
export const plain = (maxLength: number, description: string, example?: string) => ({
  ...stringOf(plainText, maxLength, description, example),
  'x-rule': `a string of at most ${maxLength} characters without control characters`,
});

const stringOf = (pattern: string, maxLength: number, description: string, example: string | undefined) =>
  Type.String({ maxLength, pattern, description, ...(example !== undefined && { examples: [example] }) });

/** The schema of an object without other members. */
export const closed = <T extends TProperties>(description: string, members: T) =>
  Type.Object(members, { additionalProperties: false, description });

/** The format of a time in UTC, `yyyy-MM-ddTHH:mm:ssZ`. */
export const utcTime = {
  format: 'date-time',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$',
  maxLength: 20,
} as const;

/** A parameter that is `true` or `false`; absent means `false`. */
export const flag = (description: string) =>
  Type.String({
    enum: ['true', 'false'],
    default: 'false',
    description,
    'x-rule': 'true or false',
    examples: ['true'],
  });

/** A parameter that is one of a few words, and the word that it is if it is absent. */
export const choice = (values: readonly string[], description: string, example: string, fallback?: string) =>
  Type.String({
    enum: [...values],
    ...(fallback !== undefined && { default: fallback }),
    description,
    'x-rule': `one of ${values.join(', ')}`,
    examples: [example],
  });

/** The schema of a number of things, from 0 unless it says otherwise. */
export const wholeNumber = (description: string, example: number, minimum = 0) =>
  Type.Integer({
    minimum,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'int64',
    description,
    examples: [example],
  });

/** Whether a string matches the `pattern`, `minLength` and `maxLength` of a string schema. */
export function fitsText(schema: TSchema, text: string): boolean {
  const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema as TextLimits;
  if (!hasLength(text, minLength, maxLength)) return false;
  return pattern === undefined || expressionOf(pattern).test(text);
}

/** Whether the length in code points, as in JSON Schema, is within bounds. */
function hasLength(text: string, min: number, max: number): boolean {
  // a code point has one or two UTF-16 units: most strings need not be counted
  const { length } = text;
  if (length < min || length > 2 * max) return false;
  if (length >= 2 * min && length <= max) return true;
  const points = [...text].length;
  return points >= min && points <= max;
}

const expressions = new Map<string, RegExp>();

/** Compiles a pattern once: compiling it for each row took an import as long as parsing the row. */
function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern) ?? new RegExp(pattern, 'u');
  expressions.set(pattern, known);
  return known;
}

/**
 * Parses plain digits into an integer within the `minimum` and `maximum` of a schema; `undefined`
 * for anything else.
 */
export function readWholeNumber(schema: TSchema, text: string): number | undefined {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema as { minimum?: number; maximum?: number };
  // no sign, space, exponent, hexadecimal or leading zero
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return value >= minimum && value <= maximum ? value : undefined;
}

/** Returns the description of a schema. */
export function descriptionOf(schema: TSchema): string {
  return (schema as { description?: string }).description ?? '';
}

interface TextLimits {
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

function annotation(schema: TSchema): { rule: string; example: string } {
  const { 'x-rule': rule, examples } = schema as { 'x-rule'?: string; examples?: unknown[] };
  if (rule === undefined || examples?.[0] === undefined) {
    throw new TypeError('Cannot describe a schema: it must have x-rule and examples');
  }
  return { rule, example: String(examples[0]) };
}
