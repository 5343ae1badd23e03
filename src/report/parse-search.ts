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
 * Reads the body of a search, a JSON object whose members are the parameters of the report. Fails
 * with `ReportError` that names every fault at once, as `parseReport` does: unknown and repeated
 * members, values of the wrong JSON type, and each value that breaks its rule.
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
    if (!isParameter(name, known)) continue; // it is among the faults already
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
    // SyntaxError; its message would show a part of the body, which may be personal
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
 * The names of the members of a JSON object, those that stand twice too, which `JSON.parse` drops
 * without a word.
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

/** The JSON types that stand for a parameter's text. */
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
 * A member as the text that would stand in the query string, or `undefined` when it has the wrong
 * JSON type.
 */
function asText(name: ReportParameter, value: unknown): string | undefined {
  if (numbers.has(name)) return typeof value === 'number' ? String(value) : undefined;
  if (booleans.has(name) && typeof value === 'boolean') return String(value);
  if (name === 'status' && Array.isArray(value)) return value.every(isText) ? value.join(',') : undefined;
  return isText(value) ? value : undefined;
}

/** Half of a surrogate pair is no character: it could neither be stored nor written back. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

const typeFault = (name: string, value: unknown, rule: string): Fault => ({
  parameter: name,
  value: name === 'email' ? null : shorten(JSON.stringify(value)),
  rule: `${typeNames[name] ?? 'a JSON string'}: ${rule}`,
});
