import type { TSchema, Type as typebox } from 'typebox';

type Builders = Pick<
  typeof typebox,
  'Array' | 'Boolean' | 'Enum' | 'Integer' | 'Literal' | 'Null' | 'Number' | 'Object' | 'Optional' | 'String' | 'Union'
>;

const optional = new WeakSet<object>();

/** A length beside fixed values makes some generators of clients write code that is invalid. */
const withoutLength = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([name]) => name !== 'maxLength'));

/**
 * The builders of typebox that the contract uses, with its types: plain JSON Schema. Importing
 * typebox itself loads 370 modules, 110 ms of CPU time at every start.
 */
export const Type = {
  Array: (items: TSchema, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options: object = {}) => ({ enum: values, ...withoutLength(options) }),
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: object) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: object) => ({ type: 'null', ...options }),
  Number: (options?: object) => ({ type: 'number', ...options }),
  Object(properties: Readonly<Record<string, TSchema>>, options?: object) {
    const required = Object.entries(properties).flatMap(([name, schema]) => (optional.has(schema) ? [] : [name]));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  Optional(schema: TSchema) {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
  String: (options: object = {}) => ({ type: 'string', ...('enum' in options ? withoutLength(options) : options) }),
  Union: (anyOf: readonly TSchema[], options?: object) => ({ anyOf, ...options }),
} as unknown as Builders;
