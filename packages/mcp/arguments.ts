import { shorten } from '../contract/problem.ts';
import { instantParameters, momentParameters } from '../contract/query.ts';
import { readIccid } from '../contract/read-iccid.ts';
import { isReservedId } from '../contract/report.ts';
import { exampleOf, fitsText } from '../contract/schema.ts';
import { SubscriptionId } from '../contract/subscription.ts';
import { didYouMean } from '../contract/suggest.ts';
import { type ObjectSchema, rowsDefault, rowsMax } from './schemas.ts';

/** Arguments by name: as a model sent them, or as `readArguments` returns them. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The arguments of a call, or the faults of those that a request would not reveal. */
interface ReadArguments {
  readonly values: Readonly<Record<string, string | number | readonly string[]>>;
  readonly faults: readonly string[];
}

/** Arguments that are lists: the API separates their values by commas. */
const lists = ['status', 'by', 'kind', 'fields'];

/**
 * A cursor of a list: the size that the service's cursor belongs to, the last row that was returned
 * of the page there, and the service's cursor. The last two may be empty.
 */
export const cursorPattern = /^(\d{1,2})\.([\w=-]*)\.([\w-]*)$/;

/**
 * Reads what assistants send: `null`, an empty string and an empty list are absent, a list is
 * joined, a number may be a string, a date without `zone` is midnight in UTC, and `_` may stand for
 * `-`. The service names the faults of all other values.
 */
export function readArguments({ properties, required }: ObjectSchema, given: Arguments): ReadArguments {
  const values: Record<string, string | number | readonly string[]> = {};
  const faults: string[] = [];
  const names = Object.keys(properties);
  const hasZone = !isAbsent(given.zone);
  const present = new Set<string>();
  for (const [wanted, raw] of Object.entries(given)) {
    const value = presentIn(raw);
    if (value === undefined) continue;
    const name = names.includes(wanted) ? wanted : wanted.replaceAll('_', '-');
    const isRepeated = present.has(name);
    present.add(name);
    const shown = shorten(wanted);
    const reject = (rule: string): void =>
      void faults.push(`Cannot use '${shown}': it must be ${rule}: current value is ${shorten(JSON.stringify(raw))}`);
    // not a property of every object, such as toString
    const schema = names.includes(name) ? properties[name] : undefined;
    if (schema === undefined)
      faults.push(
        names.length === 0
          ? `Cannot use '${shown}': this tool has no arguments`
          : `Cannot use '${shown}': it must be ${didYouMean(wanted, names) ? 'a known name' : `one of ${names.join(', ')}`}${didYouMean(wanted, names)}`,
      );
    else if (isRepeated) reject(`given once, as '${name}'`);
    else if (Array.isArray(value) && takesList(schema)) {
      const read = value.map((each) => readValue(name, { schema, hasZone }, each));
      const fault = read.find((each) => typeof each === 'object');
      if (fault === undefined) values[name] = read.map(String);
      else reject(`a list of strings, each ${fault.rule}`);
    } else if (Array.isArray(value) && !(lists.includes(name) && value.every(isScalar)))
      reject(lists.includes(name) ? 'a string' : 'one value');
    else {
      const read = readValue(name, { schema, hasZone }, Array.isArray(value) ? value.join(',') : value);
      if (typeof read === 'object') reject(read.rule);
      else values[name] = read;
    }
  }
  const missing = required.filter((name) => !present.has(name));
  faults.push(...missing.map((name) => `Cannot use '${name}': it must be given`));
  return { values, faults };
}

/** Whether an argument is one value or a list. */
const takesList = ({ type }: { readonly type?: unknown }): boolean => Array.isArray(type);

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);
const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

/** A value, several ones, or anything else as it is; `undefined` if it is absent. */
function presentIn(raw: unknown): unknown {
  if (!Array.isArray(raw)) return isAbsent(raw) ? undefined : raw;
  const values = raw.filter((value) => !isAbsent(value));
  return values.length > 1 || !values.every(isScalar) ? values : values[0];
}

/** The value of an argument as the service reads it, or the rule that it breaks. */
function readValue(
  name: string,
  { schema, hasZone }: { readonly schema: object; readonly hasZone: boolean },
  value: unknown,
): string | number | { readonly rule: string } {
  if (!isScalar(value)) return { rule: 'a string' };
  const text = name === 'iccid' ? readIccid(String(value)) : String(value);
  const { type, enum: choices = [] } = schema as { type?: string; enum?: readonly string[] };
  if (type === 'integer') {
    const rows = /^\s*\d{1,3}\s*$/.test(text) ? Number(text) : 0;
    return rows >= 1 && rows <= rowsMax ? rows : { rule: `an integer from 1 to ${rowsMax}, such as ${rowsDefault}` };
  }
  // an ICCID of 19 digits would be another one
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return { rule: 'a string: a number loses digits' };
  if (name === 'cursor') return isCursor(text) ? text : { rule: 'next_cursor of an earlier answer, unchanged' };
  if (name === 'id' && !takesList(schema))
    return isId(text) ? text : { rule: `the id of a record, unchanged, such as ${exampleOf(SubscriptionId)}` };
  if (choices.includes('true')) return text.toLowerCase();
  const isInstant = instantParameters.has(name) || momentParameters.has(name);
  return !hasZone && isInstant && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
}

const isId = (text: string): boolean => fitsText(SubscriptionId, text) && !isReservedId(text);

function isCursor(text: string): boolean {
  const size = Number(cursorPattern.exec(text)?.[1]);
  return size >= 1 && size <= rowsMax;
}
