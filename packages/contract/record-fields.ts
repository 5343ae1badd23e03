import { Product } from './product.ts';
import { fitsText } from './schema.ts';
import { Subscription } from './subscription.ts';

/** The type of a field where types are richer than those of JSON, such as in a table. */
export type FieldType = 'text' | 'instant' | 'integer' | 'boolean';

/** A value of a record that is no object. */
export interface RecordField {
  /** Its column in the CSV of the service and in imports: `iccid`, `product.plan_id`. */
  readonly name: string;
  /** Its column in a table, in Parquet and in files of `sync`: `product_plan_id`. */
  readonly column: string;
  /** The members that lead to it: `['product', 'plan_id']`. */
  readonly path: readonly string[];
  readonly type: FieldType;
  /** Whether a record may lack it. */
  readonly isOptional: boolean;
  /** Whether it may be an empty string. */
  readonly mayBeEmpty: boolean;
}

type Schema = Parameters<typeof fitsText>[0];

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/**
 * All fields in the order in which a record has them, from the schemas of the contract: the one
 * list for the columns of files, tables and workbooks, and for what imports expect.
 */
export const recordFields: readonly RecordField[] = fieldsOf(Subscription, []);

function fieldsOf(
  { properties = {}, required = [] }: ObjectSchema,
  parents: readonly string[],
): readonly RecordField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = [...parents, name];
    if (name === 'product') return fieldsOf(Product, path);
    const type = typeOf(schema);
    return {
      name: path.join('.'),
      column: path.join('_').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      path,
      type,
      isOptional: !required.includes(name),
      mayBeEmpty: type === 'text' && fitsText(schema, ''),
    };
  });
}

function typeOf(schema: Schema): FieldType {
  const { type, format, enum: values } = schema as { type?: string; format?: string; enum?: readonly string[] };
  if (format === 'date-time') return 'instant';
  if (type === 'integer') return 'integer';
  return values?.join() === 'true,false' ? 'boolean' : 'text';
}

/** The value of a field in a record, or `undefined`. */
export function valueAt(record: object, { path: [name = '', part] }: Pick<RecordField, 'path'>): unknown {
  const value = (record as Readonly<Record<string, unknown>>)[name];
  return part === undefined ? value : (value as Readonly<Record<string, unknown>> | undefined)?.[part];
}

/**
 * The record of these values, in the order of `recordFields` or of some of them; what is
 * `undefined` is absent.
 */
export function recordWith(
  pick: (field: RecordField, index: number) => unknown,
  fields: readonly RecordField[] = recordFields,
): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  let product: Record<string, unknown> | undefined;
  for (const [index, field] of fields.entries()) {
    const [name = '', part] = field.path;
    const value = pick(field, index);
    if (part === undefined) record[name] = value;
    else {
      if (product === undefined) record[name] = product = {};
      product[part] = value;
    }
  }
  return record;
}
