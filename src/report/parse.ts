import { normaliseEmail } from '../contract/email.ts';
import { type FormPair, parseForm, repeatedNames } from '../contract/form.ts';
import { compareInstants, formatInstant, type Instant, parseInstant } from '../contract/instant.ts';
import { type Fault, faultSentence } from '../contract/problem.ts';
import {
  type DateField,
  dateFields,
  type PageLimits,
  type ReportParameter,
  reportParameters,
  type SortValue,
  sortValues,
} from '../contract/query.ts';
import { fitsText, readWholeNumber, ruleOf } from '../contract/schema.ts';
import { didYouMean } from '../contract/suggest.ts';
import { type Cursor, decodeCursor, fingerprint } from './cursor.ts';
import { ReportError } from './error.ts';

/** A report query that can be answered: every value read and checked. */
export interface ReportQuery {
  readonly iccid?: string;
  readonly email?: string;
  readonly productId?: string;
  readonly statuses?: readonly string[];
  readonly before?: Instant;
  readonly after?: Instant;
  readonly dateField: DateField;
  readonly sort: SortValue;
  readonly size: number;
  readonly page: number;
  readonly cursor?: Cursor;
  /** The parameters that choose records and order, as they arrived; links to other pages repeat them. */
  readonly filters: readonly FormPair[];
  /** Mark of `filters` and `size`: a cursor is good only for the query it came from. */
  readonly mark: string;
}

/**
 * Reads the query string of a report (`spec.md` "Query parameters"), without its `?`. Fails with `ReportError` that names every fault at once: what cannot
 * be decoded, unknown and repeated names, and each value that breaks its rule.
 */
export function parseReport(queryString: string, limits: PageLimits): ReportQuery {
  const schemas = reportParameters(limits);
  const { pairs, malformed } = parseForm(queryString);
  const faults: Fault[] = [...malformed.map(malformedFault), ...nameFaults(pairs, Object.keys(schemas))];
  let unreadable = malformed.length > 0;
  const read = <T>(name: ReportParameter, parse: (text: string) => T | undefined): T | undefined => {
    const text = pairs.find((pair) => pair.name === name)?.value;
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value !== undefined) return value;
    if (dateParameters.has(name)) unreadable = true;
    faults.push({ parameter: name, value: shownValue(name, text), rule: ruleOf(schemas[name]) });
    return undefined;
  };
  const fitting = (name: ReportParameter) => (text: string) => (fitsText(schemas[name], text) ? text : undefined);
  const values = {
    iccid: read('iccid', fitting('iccid')),
    email: read('email', (text) => fitting('email')(normaliseEmail(text))),
    productId: read('product-id', fitting('product-id')),
    statuses: read('status', (text) => fitting('status')(text)?.split(',')),
    before: read('before', parseInstant),
    after: read('after', parseInstant),
    dateField: read('date-field', (text) => memberOf(Object.keys(dateFields) as DateField[], text)) ?? 'created',
    sort: read('sort', (text) => memberOf(sortValues, text)) ?? 'createdDate',
    size: read('size', (text) => readWholeNumber(schemas.size, text)) ?? limits.sizeDefault,
    page: read('page', (text) => readWholeNumber(schemas.page, text)),
    cursor: read('cursor', decodeCursor),
  };
  const filters = pairs.filter(({ name }) => !positionParameters.has(name));
  const mark = fingerprint(JSON.stringify([values.size, filters.map(({ name, value }) => [name, value]).sort()]));
  if (faults.length === 0) faults.push(...contradictions(values, mark));
  refuse(faults, unreadable);
  const page = values.cursor?.page ?? values.page ?? limits.firstPage;
  return { ...defined(values), page, filters, mark };
}

/** Refuses every query parameter, for operations that take none. */
export function parseNoParameters(queryString: string): void {
  const { pairs, malformed } = parseForm(queryString);
  const faults = [
    ...malformed.map(malformedFault),
    ...pairs.map(({ name }) => ({
      parameter: shorten(name),
      value: null,
      rule: 'left out: this operation has no query parameters',
    })),
  ];
  refuse(faults, malformed.length > 0);
}

/** The most faults that one answer lists, as its contract says. */
const faultsMax = 256;

/** Fails with every fault that was found, if any; `unreadable` when one of them is about how a value is written. */
function refuse(faults: readonly Fault[], unreadable: boolean): void {
  if (faults.length === 0) return;
  const listed = faults.slice(0, faultsMax);
  throw new ReportError(
    unreadable ? 'INVALID_HTTP_MESSAGE' : 'INVALID_REQUEST_PARAMS',
    listed.map(faultSentence),
    listed,
  );
}

const dateParameters: ReadonlySet<string> = new Set(['before', 'after']);
const positionParameters: ReadonlySet<string> = new Set(['size', 'page', 'cursor']);

function nameFaults(pairs: readonly FormPair[], known: readonly string[]): Fault[] {
  const names = new Set(pairs.map(({ name }) => name));
  const unknown = [...names].filter((name) => !known.includes(name));
  const repeated = [...repeatedNames(pairs)].filter((name) => known.includes(name));
  return [
    ...unknown.map((name) => ({
      parameter: shorten(name),
      value: null,
      rule: `one of ${known.join(', ')}${didYouMean(name, known)}`,
    })),
    ...repeated.map((name) => ({ parameter: name, value: null, rule: 'given only once' })),
  ];
}

/** What cannot be decoded is not shown: whether it is personal cannot be told. */
const malformedFault = (part: string): Fault => ({
  parameter: shorten(part.split('=', 1)[0] ?? ''),
  value: null,
  rule: 'UTF-8 in percent-encoding, such as %2B for +',
});

/** What is wrong with values that are each right on their own. */
function contradictions(
  {
    before,
    after,
    page,
    cursor,
  }: {
    before?: Instant | undefined;
    after?: Instant | undefined;
    page?: number | undefined;
    cursor?: Cursor | undefined;
  },
  mark: string,
): Fault[] {
  const faults: Fault[] = [];
  if (before !== undefined && after !== undefined && compareInstants(before, after) <= 0) {
    const rule = `later than 'after', which is ${formatInstant(after.seconds)}: both together mean the time between`;
    faults.push({ parameter: 'before', value: formatInstant(before.seconds), rule });
  }
  if (cursor !== undefined && cursor.query !== mark) {
    faults.push({
      parameter: 'cursor',
      value: null,
      rule: 'used with the filters, order and size it came from; leave it out to begin a new report',
    });
  } else if (cursor !== undefined && page !== undefined && page !== cursor.page) {
    faults.push({
      parameter: 'page',
      value: String(page),
      rule: `${cursor.page}, the page of the cursor; leave cursor out to jump to another page`,
    });
  }
  return faults;
}

function memberOf<T extends string>(members: readonly T[], text: string): T | undefined {
  return members.find((member) => member === text);
}

/** A value as an answer may show it: short, and nothing personal. */
const shownValue = (name: ReportParameter, text: string): string | null => (name === 'email' ? null : shorten(text));

const shorten = (text: string): string => (text.length > 64 ? `${text.slice(0, 64)}…` : text);

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without the members that are undefined. */
function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}
