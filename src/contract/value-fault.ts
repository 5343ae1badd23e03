import type { TSchema } from 'typebox';
import type { Fault } from './problem.ts';
import { fitsText, ruleOf } from './schema.ts';
import { shorten } from './shorten.ts';

/** The keywords of JSON Schema that the bodies of the operator's API use. */
interface Keywords {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  /** A secret: its value is never repeated. */
  readonly 'x-secret'?: boolean;
}

/** The fault of a member whose value breaks the rule of its schema, or `undefined`. */
export function valueFault(parameter: string, schema: TSchema, value: unknown): Fault | undefined {
  if (fits(schema, value)) return undefined;
  const isShown = value !== undefined && (schema as Keywords)['x-secret'] !== true;
  return { parameter, value: isShown ? shorten(JSON.stringify(value)) : null, rule: ruleOf(schema) };
}

/** Whether a JSON value matches a schema. */
function fits(schema: TSchema, value: unknown): boolean {
  const keywords = schema as Keywords;
  if (keywords.anyOf !== undefined) return keywords.anyOf.some((each) => fits(each, value));
  if (keywords.enum !== undefined && !keywords.enum.includes(value)) return false;
  switch (keywords.type) {
    case 'string':
      return typeof value === 'string' && value.isWellFormed() && fitsText(schema, value);
    case 'boolean':
    case 'number':
      return typeof value === keywords.type && isWithin(keywords, Number(value));
    case 'integer':
      return Number.isInteger(value) && isWithin(keywords, Number(value));
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value) && fitsList(keywords, value);
    default:
      throw new TypeError(`Cannot check a value: the type of its schema must be known: ${keywords.type}`);
  }
}

const isWithin = ({ minimum = -Infinity, maximum = Infinity }: Keywords, value: number): boolean =>
  value >= minimum && value <= maximum;

function fitsList({ items, minItems = 0, maxItems = Infinity, uniqueItems }: Keywords, list: unknown[]): boolean {
  if (list.length < minItems || list.length > maxItems) return false;
  if (uniqueItems === true && new Set(list).size !== list.length) return false;
  return items === undefined || list.every((item) => fits(items, item));
}
