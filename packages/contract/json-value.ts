import type { TSchema } from 'typebox';
import { type Fault, shorten } from './problem.ts';
import { fitsText, ruleOf } from './schema.ts';

// JSON values by their schemas: what a request must have, and what a response must not lack.

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
  return {
    parameter,
    value: isShown ? shorten(typeof value === 'string' ? value : JSON.stringify(value)) : null,
    rule: ruleOf(schema),
  };
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

/**
 * What a value lacks of the types and required members of a schema, as the end of a sentence; it
 * may have other values and more members, which a later version may send.
 *
 * @example misshapeOf(SubscriptionSummary, { total: '7' }, 'it') // 'it.total must be an integer'
 */
export function misshapeOf(schema: TSchema, value: unknown, name: string): string | undefined {
  const { type, enum: values, anyOf, required = [], properties = {}, items } = schema as Shape;
  if (anyOf !== undefined) {
    const faults = anyOf.map((each) => misshapeOf(each, value, name));
    return faults.includes(undefined) ? undefined : faults[0];
  }
  const wanted = type ?? typeof values?.[0];
  if (wanted !== typeOf(value, wanted)) return `${name} must be ${/^[aeio]/.test(wanted) ? 'an' : 'a'} ${wanted}`;
  if (Array.isArray(value))
    return firstOf(value.entries(), ([at, each]) => items && misshapeOf(items, each, `${name}[${at}]`));
  if (wanted !== 'object') return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  const missing = required.find((each) => members[each] === undefined);
  if (missing !== undefined) return `${name}.${missing} must be given`;
  return firstOf(Object.entries(properties), ([each, member]) =>
    members[each] === undefined ? undefined : misshapeOf(member, members[each], `${name}.${each}`),
  );
}

function typeOf(value: unknown, wanted: string): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return wanted === 'integer' && Number.isInteger(value) ? wanted : typeof value;
}

function firstOf<Item>(items: Iterable<Item>, faultOf: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

interface Shape {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}
