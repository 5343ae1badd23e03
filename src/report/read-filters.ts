import { parseDuration } from '../contract/duration.ts';
import { normaliseEmail } from '../contract/email.ts';
import type { FormPair } from '../contract/form.ts';
import { parseInstant } from '../contract/instant.ts';
import type { PageLimits } from '../contract/page-limits.ts';
import type { Fault } from '../contract/problem.ts';
import { type DateField, dateFields, type ReportParameter, reportParameters } from '../contract/query.ts';
import { fitsText, ruleOf } from '../contract/schema.ts';
import { shorten } from '../contract/shorten.ts';
import type { ReportFilters } from './report-query.ts';

/** The parameters of a request as strings, from a URL or a body, and the faults found so far. */
export interface QueryParts {
  readonly pairs: readonly FormPair[];
  readonly faults: readonly Fault[];
  /** Whether a part could not be decoded. */
  readonly unreadable: boolean;
}

/** Reads the parameters of a request one by one. */
interface ParameterReader {
  /** Returns the value of a parameter; `undefined` if it is absent or invalid. */
  read<T>(name: ReportParameter, parse: (text: string) => T | undefined): T | undefined;
  /** As `read`, for a string that must match the parameter's schema. */
  readText(name: ReportParameter, normalise?: (text: string) => string): string | undefined;
  /** The faults found so far. */
  readonly faults: Fault[];
  /** Whether a part, or a date, could not be decoded. */
  isUnreadable(): boolean;
}

/** Creates a reader that adds to the faults found so far. */
export function createParameterReader(parts: QueryParts, limits: PageLimits): ParameterReader {
  const schemas = reportParameters(limits);
  const faults = [...parts.faults];
  let { unreadable } = parts;
  const read: ParameterReader['read'] = (name, parse) => {
    const text = parts.pairs.find((pair) => pair.name === name)?.value;
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value !== undefined) return value;
    if (dateParameters.has(name)) unreadable = true;
    faults.push({ parameter: name, value: shownValue(name, text), rule: ruleOf(schemas[name]) });
    return undefined;
  };
  return {
    read,
    readText: (name, normalise = (text) => text) =>
      read(name, (text) => (fitsText(schemas[name], normalise(text)) ? normalise(text) : undefined)),
    faults,
    isUnreadable: () => unreadable,
  };
}

/** Reads the parameters that select records. */
export function readFilters({ read, readText }: ParameterReader): Omit<ReportFilters, 'sort'> {
  return {
    iccid: readText('iccid'),
    email: readText('email', normaliseEmail),
    productId: readText('product-id'),
    statuses: readText('status')?.split(',').filter(isFirst).sort(),
    before: read('before', parseInstant),
    after: read('after', parseInstant),
    dateField: read('date-field', (text) => memberOf(Object.keys(dateFields) as DateField[], text)) ?? 'created',
    deviceId: readText('device-id'),
    planId: readText('plan-id'),
    autoRenew: read('auto-renew', (text) => memberOf(['true', 'false'], text)),
    createdFrom: read('created-from', parseInstant),
    createdTo: read('created-to', parseInstant),
    expiresWithinSeconds: read('expires-within', parseDuration),
  };
}

const dateParameters: ReadonlySet<string> = new Set(['before', 'after', 'created-from', 'created-to']);

const isFirst = (word: string, index: number, words: readonly string[]): boolean => words.indexOf(word) === index;

/** The member that equals a string, or `undefined`. */
export function memberOf<T extends string>(members: readonly T[], text: string): T | undefined {
  return members.find((member) => member === text);
}

/** A value as an error may show it: shortened, and never an e-mail address. */
const shownValue = (name: ReportParameter, text: string): string | null => (name === 'email' ? null : shorten(text));
