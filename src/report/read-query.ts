import { parseDuration } from '../contract/duration.ts';
import { normaliseEmail } from '../contract/email.ts';
import type { FormPair } from '../contract/form.ts';
import { parseInstant } from '../contract/instant.ts';
import type { Fault } from '../contract/problem.ts';
import { type DateField, dateFields, type ReportParameter, reportParameters, sortValues } from '../contract/query.ts';
import { formatWords, type ReportFormat, reportFormats } from '../contract/report-format.ts';
import { fitsText, readWholeNumber, ruleOf } from '../contract/schema.ts';
import { shorten } from '../contract/shorten.ts';
import { canonicalFilters } from './applied-filters.ts';
import { findContradictions, findUnstreamable } from './contradictions.ts';
import { decodeCursor, fingerprint } from './cursor.ts';
import { ReportError } from './error.ts';
import { refuse } from './refuse.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

/**
 * The parameters of a request as texts, whichever way they came, and what is wrong with them so
 * far.
 */
interface QueryParts {
  readonly pairs: readonly FormPair[];
  readonly faults: readonly Fault[];
  /** Whether something could not be read at all. */
  readonly unreadable: boolean;
  /** Whether they came in a URL and may stand in another. */
  readonly linkable: boolean;
}

/**
 * Reads each parameter and checks them against each other. Fails with `ReportError` that names
 * every fault at once, those found before too, or that no form fits when the query names none and
 * `accepted` is none.
 */
export function readQuery(
  parts: QueryParts,
  { limits, now }: QueryContext,
  accepted: ReportFormat | undefined,
): ReportQuery {
  const { pairs, linkable } = parts;
  const schemas = reportParameters(limits);
  const faults: Fault[] = [...parts.faults];
  let { unreadable } = parts;
  const read = <T>(name: ReportParameter, parse: (text: string) => T | undefined): T | undefined => {
    const text = pairs.find((pair) => pair.name === name)?.value;
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value !== undefined) return value;
    if (dateParameters.has(name)) unreadable = true;
    faults.push({ parameter: name, value: shownValue(name, text), rule: ruleOf(schemas[name]) });
    return undefined;
  };
  const readText = (name: ReportParameter, normalise = (text: string): string => text) =>
    read(name, (text) => (fitsText(schemas[name], normalise(text)) ? normalise(text) : undefined));
  const filters = defined({
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
    sort: read('sort', (text) => memberOf(sortValues, text)) ?? 'createdDate',
  });
  const size = read('size', (text) => readWholeNumber(schemas.size, text)) ?? limits.sizeDefault;
  const page = read('page', (text) => readWholeNumber(schemas.page, text));
  const cursor = read('cursor', decodeCursor);
  const format = read('format', (text) => memberOf(formatWords, text)) ?? accepted;
  const all = read('all', (text) => memberOf(['true', 'false'], text)) === 'true';
  const mark = fingerprint(JSON.stringify([size, canonicalFilters(filters)]));
  if (faults.length === 0) faults.push(...findContradictions(filters, { cursor, page, mark }));
  if (faults.length === 0 && all) faults.push(...findUnstreamable(pairs, format));
  refuse(faults, unreadable);
  if (format === undefined) throw noFormFits();
  return {
    ...filters,
    size,
    page: cursor?.page ?? page ?? limits.firstPage,
    ...(cursor && { cursor }),
    format,
    all,
    nowSeconds: cursor?.nowSeconds ?? now(),
    ...(linkable && { filters: pairs.filter(({ name }) => !positionParameters.has(name)) }),
    mark,
  };
}

const dateParameters: ReadonlySet<string> = new Set(['before', 'after', 'created-from', 'created-to']);
const positionParameters: ReadonlySet<string> = new Set(['size', 'page', 'cursor', 'all']);

const noFormFits = (): ReportError =>
  new ReportError('UNACCEPTABLE', [
    `Cannot answer in this form: the header 'accept' must allow ${formatWords.map((word) => reportFormats[word].mediaType).join(', ')}, or format must name one`,
  ]);

const isFirst = (word: string, index: number, words: readonly string[]): boolean => words.indexOf(word) === index;

function memberOf<T extends string>(members: readonly T[], text: string): T | undefined {
  return members.find((member) => member === text);
}

/** A value as an answer may show it: short, and nothing personal. */
const shownValue = (name: ReportParameter, text: string): string | null => (name === 'email' ? null : shorten(text));

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without the members that are undefined. */
function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}
