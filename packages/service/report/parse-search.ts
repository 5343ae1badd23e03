import type { FormPair } from '../../contract/form.ts';
import { parseJsonObject } from '../../contract/json-object.ts';
import { isListParameter, type ListParameter, listedMax } from '../../contract/listed-values.ts';
import { nameFaults } from '../../contract/parameter-faults.ts';
import { type Fault, shorten } from '../../contract/problem.ts';
import { type ReportParameter, reportParameters } from '../../contract/query.ts';
import type { ReportFormat } from '../../contract/report.ts';
import { fitsText, ruleOf } from '../../contract/schema.ts';
import { ReportError } from './error.ts';
import { readQuery } from './parse.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

/**
 * Parses the body of a search, a JSON object of report parameters. Throws `ReportError` with every
 * fault at once: unknown and repeated members, values of the wrong JSON type, and invalid values.
 */
export function parseSearch(body: Uint8Array, context: QueryContext, accepted: ReportFormat | undefined): ReportQuery {
  const parsed = parseJsonObject(body);
  if (parsed === undefined) throw unreadable();
  const schemas = reportParameters(context.limits);
  const known = Object.keys(schemas);
  const faults = nameFaults(
    parsed.names.map((name) => ({ name })),
    known,
  );
  const pairs: FormPair[] = [];
  const lists = new Map<ListParameter, readonly string[]>();
  for (const [name, value] of Object.entries(parsed.members)) {
    if (!isParameter(name, known)) continue; // already reported
    if (isListParameter(name) && Array.isArray(value)) {
      const found = listFaults(name, value, schemas);
      if (found.length === 0) lists.set(name, value);
      faults.push(...found);
      continue;
    }
    const written = asText(name, value);
    if (written !== undefined) pairs.push({ name, value: written });
    else faults.push(typeFault(name, value, ruleOf(schemas[name])));
  }
  return readQuery({ pairs, lists, faults, unreadable: false, linkable: false }, context, accepted);
}

const isParameter = (name: string, known: readonly string[]): name is ReportParameter => known.includes(name);

const unreadable = (): ReportError =>
  new ReportError('INVALID_HTTP_MESSAGE', [
    `Cannot read the search: its body must be a JSON object in UTF-8, such as {"status":["ACTIVE"],"size":50}`,
  ]);

/** Parameters that are JSON numbers or booleans instead of strings. */
const numbers: ReadonlySet<string> = new Set(['size', 'page']);
const wordLists: ReadonlySet<string> = new Set(['status', 'fields']);
const booleans: ReadonlySet<string> = new Set(['auto-renew', 'all']);
const typeNames: Readonly<Record<string, string>> = {
  id: 'a JSON string or an array of strings',
  iccid: 'a JSON string or an array of strings',
  'device-id': 'a JSON string or an array of strings',
  size: 'a JSON number',
  page: 'a JSON number',
  status: 'a string or an array of single ones',
  fields: 'a string or an array of single ones',
  'auto-renew': 'a JSON boolean or its word',
  all: 'a JSON boolean or its word',
};

/**
 * Returns a member as it would appear in the query string; `undefined` if it has the wrong JSON
 * type.
 */
function asText(name: ReportParameter, value: unknown): string | undefined {
  if (numbers.has(name)) return typeof value === 'number' ? String(value) : undefined;
  if (booleans.has(name) && typeof value === 'boolean') return String(value);
  if (wordLists.has(name) && Array.isArray(value)) return value.every(isWord) ? value.join(',') : undefined;
  return isText(value) ? value : undefined;
}

/** The faults of a list: its number of values, or each value that breaks the rule of one. */
function listFaults(
  name: ListParameter,
  list: readonly unknown[],
  { [name]: schema }: ReturnType<typeof reportParameters>,
): Fault[] {
  if (list.length === 0 || list.length > listedMax) {
    const rule = `a list of 1 to ${listedMax} values, each ${ruleOf(schema)}`;
    return [{ parameter: name, value: `${list.length} values`, rule }];
  }
  return list.flatMap((value, at) => {
    const rule = isText(value) ? ruleOf(schema) : `a JSON string: ${ruleOf(schema)}`;
    if (isText(value) && fitsText(schema, value)) return [];
    return [{ parameter: `${name}[${at}]`, value: shorten(isText(value) ? value : JSON.stringify(value)), rule }];
  });
}

/** Half a surrogate pair is not a character and cannot be encoded as UTF-8. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

/** A comma in a value would make two values of it. */
const isWord = (value: unknown): boolean => isText(value) && !value.includes(',');

const typeFault = (name: string, value: unknown, rule: string): Fault => ({
  parameter: name,
  value: name === 'email' ? null : shorten(JSON.stringify(value)),
  rule: `${typeNames[name] ?? 'a JSON string'}: ${rule}`,
});
