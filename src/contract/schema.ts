import type { TSchema } from 'typebox';

/**
 * The rule of a schema as the end of a sentence: `15 to 22 digits, such as 8944500102198304826`.
 *
 * Every schema of a single value carries, besides JSON Schema, `x-rule` (in words what must hold)
 * and `examples` (the first one is right), so that one definition gives validation, OpenAPI and the
 * sentence a person reads.
 */
export function ruleOf(schema: TSchema): string {
  return `${annotation(schema).rule}, such as ${annotation(schema).example}`;
}

/** The first example of a schema: a value that is right. */
export function exampleOf(schema: TSchema): string {
  return annotation(schema).example;
}

/** Pattern of texts that people write: anything but control characters. */
export const plainText = '^[^\\u0000-\\u001f\\u007f]*$';

/** Pattern of texts for machines: printable ASCII. */
export const printableAscii = '^[\\x20-\\x7e]*$';

/** Whether a text fits the `pattern`, `minLength` and `maxLength` of a string schema. */
export function fitsText(schema: TSchema, text: string): boolean {
  const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema as TextLimits;
  const length = codePoints(text, maxLength);
  if (length < minLength || length > maxLength) return false;
  return pattern === undefined || expressionOf(pattern).test(text);
}

/**
 * Characters of a text as JSON Schema counts them: code points, not UTF-16 units. A text that is
 * too long in any case is not counted.
 */
const codePoints = (text: string, max: number): number => (text.length > 2 * max ? text.length : [...text].length);

const expressions = new Map<string, RegExp>();

/** The expression of a pattern, made once: making it took an import as long as reading a row. */
function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern) ?? new RegExp(pattern, 'u');
  expressions.set(pattern, known);
  return known;
}

/**
 * The whole number that a text spells in plain digits, when it fits the `minimum` and `maximum` of
 * an integer schema; `undefined` otherwise.
 */
export function readWholeNumber(schema: TSchema, text: string): number | undefined {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema as { minimum?: number; maximum?: number };
  // no sign, blank, exponent, hexadecimal or leading zero
  if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return value >= minimum && value <= maximum ? value : undefined;
}

/** What a schema is about, in a sentence. */
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
    throw new TypeError('Cannot describe a schema: it must carry x-rule and examples');
  }
  return { rule, example: String(examples[0]) };
}
