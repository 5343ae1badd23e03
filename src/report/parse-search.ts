import type { FormPair } from '../contract/form.ts';
import { nameFaults } from '../contract/parameter-faults.ts';
import type { Fault } from '../contract/problem.ts';
import { type ReportParameter, reportParameters } from '../contract/query.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import { ruleOf } from '../contract/schema.ts';
import { shorten } from '../contract/shorten.ts';
import { ReportError } from './error.ts';
import { readQuery } from './read-query.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

/**
 * Parses the body of a search, a JSON object of report parameters. Throws `ReportError` with every
 * fault at once: unknown and repeated members, values of the wrong JSON type, and invalid values.
 */
export function parseSearch(body: Uint8Array, context: QueryContext, accepted: ReportFormat | undefined): ReportQuery {
  const text = decode(body);
  const members = readObject(text);
  const schemas = reportParameters(context.limits);
  const known = Object.keys(schemas);
  const faults = nameFaults(
    memberNames(text).map((name) => ({ name })),
    known,
  );
  const pairs: FormPair[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (!isParameter(name, known)) continue; // already reported
    const written = asText(name, value);
    if (written !== undefined) pairs.push({ name, value: written });
    else faults.push(typeFault(name, value, ruleOf(schemas[name])));
  }
  return readQuery({ pairs, faults, unreadable: false, linkable: false }, context, accepted);
}

const isParameter = (name: string, known: readonly string[]): name is ReportParameter => known.includes(name);

const decoder = new TextDecoder('utf-8', { fatal: true });

function decode(body: Uint8Array): string {
  try {
    return decoder.decode(body);
  } catch {
    throw unreadable(); // TypeError of the decoder: not UTF-8
  }
}

function readObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // a SyntaxError message would contain part of the body, which may be personal data
    throw unreadable();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable();
  return value as Record<string, unknown>;
}

const unreadable = (): ReportError =>
  new ReportError('INVALID_HTTP_MESSAGE', [
    'Cannot read the search: its body must be a JSON object in UTF-8, such as {"status":["ACTIVE"],"size":50}',
  ]);

/**
 * The member names of a JSON object, including repeated ones, which `JSON.parse` drops silently.
 */
function memberNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [token, text, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[[{]|[\]}]/g)) {
    if (text !== undefined) {
      if (depth === 1 && colon !== undefined) names.push(JSON.parse(text));
    } else depth += token === '{' || token === '[' ? 1 : -1;
  }
  return names;
}

/** Parameters that are JSON numbers or booleans instead of strings. */
const numbers: ReadonlySet<string> = new Set(['size', 'page']);
const booleans: ReadonlySet<string> = new Set(['auto-renew', 'all']);
const typeNames: Readonly<Record<string, string>> = {
  size: 'a JSON number',
  page: 'a JSON number',
  status: 'a JSON string or an array of strings',
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
  if (name === 'status' && Array.isArray(value)) return value.every(isText) ? value.join(',') : undefined;
  return isText(value) ? value : undefined;
}

/** Half a surrogate pair is not a character and cannot be encoded as UTF-8. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

const typeFault = (name: string, value: unknown, rule: string): Fault => ({
  parameter: name,
  value: name === 'email' ? null : shorten(JSON.stringify(value)),
  rule: `${typeNames[name] ?? 'a JSON string'}: ${rule}`,
});
