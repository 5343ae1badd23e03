import { parseJson, RepeatedError } from '../../contract/json-object.ts';
import { isKnown } from '../../contract/known-values.ts';
import { mappingJson, mappingMax } from '../../contract/load.ts';
import { shorten } from '../../contract/problem.ts';
import { type RecordField, recordFields } from '../../contract/record-fields.ts';
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

const depthMax = 3;

const parts: readonly string[] = ['columns', 'constants', 'values'];
const partsRule = "'columns', 'constants' and 'values'";

/**
 * Parses a mapping, such as `{"columns":{"iccid":"SIM"},"values":{"status":{"A":"ACTIVE"}}}`.
 * Throws `MappingError` with the first fault.
 */
export function parseMapping(text: string): ColumnMapping {
  const mapping = parse(text);
  if (!isObject(mapping)) throw fault(`it must be a JSON object with ${partsRule}`);
  for (const name of Object.keys(mapping))
    if (!parts.includes(name)) throw fault(`it must have ${partsRule} only: it has '${shorten(name)}'`);
  const read = {
    columns: readMembers('columns', mapping.columns),
    constants: readMembers('constants', mapping.constants),
    ...(mapping.values !== undefined && { values: readValues(mapping.values) }),
  };
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
    throw fault(`it must be a JSON object with ${partsRule}`);
  }
}

const readMembers = (part: 'columns' | 'constants', members: unknown): Readonly<Record<string, string>> =>
  readFields(part, members, (value, name) => {
    const field = part === 'constants' ? fieldOf(name) : undefined;
    if (value === '' && (!field?.mayBeEmpty || field.isOptional))
      throw fault(`'${part}' must have a text for '${name}'`);
    return readText(value, `'${part}'`, name);
  });

const readValues = (members: unknown) =>
  readFields('values', members, (codes, name) => {
    const field = fieldOf(name);
    const where = `'values.${name}'`;
    if (!isObject(codes) || Object.keys(codes).length === 0)
      throw fault(`${where} must be a JSON object, such as {"A":"ACTIVE"}`);
    return Object.fromEntries(
      Object.entries(codes).map(([code, value]) => {
        const text = readText(value, where, code);
        const isValid = text === '' ? field?.isOptional || field?.mayBeEmpty : field && hasType(field, text);
        if (isValid !== true) throw fault(`${where} must have valid values: '${shorten(code)}' is '${shorten(text)}'`);
        return [code, text];
      }),
    );
  });

function readFields<T>(part: string, members: unknown = {}, read: (value: unknown, field: string) => T) {
  if (!isObject(members)) throw fault(`'${part}' must be a JSON object`);
  return Object.fromEntries(
    Object.entries(members).map(([field, value]) => {
      if (!csvColumns.includes(field))
        throw fault(`'${part}' must name fields: '${shorten(field)}' is none${didYouMean(field, csvColumns)}`);
      if (part !== 'columns' && ownFields.includes(field))
        throw fault(`'${part}' must not have '${field}', which each record has for itself`);
      return [field, read(value, field)] as const;
    }),
  );
}

/** A text; `true`, `false` or an integer as one. A number may have more digits than are kept. */
function readText(value: unknown, where: string, name: string): string {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  throw fault(`${where} must have a text for '${shorten(name)}'`);
}

const fieldOf = (name: string): RecordField | undefined => recordFields.find((field) => field.name === name);

const hasType = (field: RecordField, text: string): boolean => field.type === 'text' || isKnown(field, text);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fault = (rule: string): MappingError => new MappingError(rule);
