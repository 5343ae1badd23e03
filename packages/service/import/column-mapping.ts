import { parseJson, RepeatedError } from '../../contract/json-object.ts';
import { mappingJson, mappingMax } from '../../contract/load.ts';
import { shorten } from '../../contract/problem.ts';
import { recordFields } from '../../contract/record-fields.ts';
import { fitsText } from '../../contract/schema.ts';
import { didYouMean } from '../../contract/suggest.ts';
import { type ColumnMapping, csvColumns } from './csv-layout.ts';

/** A mapping that cannot be used; `rule` says what it must be. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
  readonly rule: string;

  constructor(rule: string) {
    super(`Cannot use the mapping of columns: ${rule}`);
    this.rule = rule;
  }
}

const depthMax = 2;

/**
 * Parses a mapping, such as `{"columns":{"iccid":"SIM"},"constants":{"auto_renew":"false"}}`.
 * Throws `MappingError` with the first fault.
 */
export function parseMapping(text: string): ColumnMapping {
  const mapping = parse(text);
  if (!isObject(mapping)) throw fault("it must be a JSON object with 'columns' and 'constants'");
  for (const name of Object.keys(mapping))
    if (name !== 'columns' && name !== 'constants')
      throw fault(`it must have 'columns' and 'constants' only: it has '${shorten(name)}'`);
  const read = {
    columns: readMembers('columns', mapping.columns),
    constants: readMembers('constants', mapping.constants),
  };
  const own = ownFields.find((field) => Object.hasOwn(read.constants, field));
  if (own !== undefined) throw fault(`'constants' must not have '${own}', which each record has for itself`);
  // JSON escapes all other control characters
  if (!fitsText(mappingJson, JSON.stringify(read)))
    throw fault(`it must have at most ${mappingMax} characters, and none of them U+007F`);
  return read;
}

/** Fields of which a constant would make one record, SIM or subscriber of all rows. */
const ownFields: readonly string[] = ['id', 'iccid', 'email'];

function parse(text: string): unknown {
  try {
    return parseJson(text, depthMax);
  } catch (error) {
    if (error instanceof RepeatedError) throw fault(`'${shorten(error.path)}' must be given once`);
    throw fault("it must be a JSON object with 'columns' and 'constants'");
  }
}

function readMembers(part: string, members: unknown = {}): Readonly<Record<string, string>> {
  if (!isObject(members)) throw fault(`'${part}' must be a JSON object`);
  return Object.fromEntries(
    Object.entries(members).map(([field, value]) => {
      if (!csvColumns.includes(field))
        throw fault(`'${part}' must name fields: '${shorten(field)}' is none${didYouMean(field, csvColumns)}`);
      // a number may have more digits than are kept
      const isText = typeof value === 'string' || typeof value === 'boolean';
      const isEmpty = value === '' && !(part === 'constants' && mayBeEmpty.has(field));
      if (isEmpty || (!isText && !Number.isSafeInteger(value)))
        throw fault(`'${part}' must have a text for '${field}'`);
      return [field, String(value)];
    }),
  );
}

/** Required fields of which an empty text is a value. */
const mayBeEmpty: ReadonlySet<string> = new Set(
  recordFields.flatMap((field) => (field.mayBeEmpty && !field.isOptional ? [field.name] : [])),
);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fault = (rule: string): MappingError => new MappingError(rule);
