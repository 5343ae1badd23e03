import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { formatInstant, parseInstant } from '../../contract/instant.ts';
import { operations } from '../../contract/operations.ts';
import { shorten } from '../../contract/problem.ts';
import { readBoolean, readInteger } from '../../contract/read-value.ts';
import { type RecordField, recordFields, recordWith, valueAt } from '../../contract/record-fields.ts';
import { dateTimeRule, fitsText, ruleOf } from '../../contract/schema.ts';
import { Email, normaliseEmail, Subscription } from '../../contract/subscription.ts';
import { didYouMean } from '../../contract/suggest.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';

/** What other words than `true` and `false` mean. */
export type Spellings = Map<string, string>;

type CheckedRow = { readonly row: SubscriptionRow } | { readonly faults: readonly RowFault[] };

/** The names of the fields with a condition that are no members of the product. */
const namesOf = (isWanted: (field: RecordField) => boolean): readonly string[] =>
  recordFields.filter((field) => field.path.length === 1 && isWanted(field)).map(({ name }) => name);

/** The dates that a row needs are first. */
const dateNames = [
  ...new Set(['createdDate', 'activationDate', 'expirationDate', ...namesOf(({ type }) => type === 'instant')]),
];
const booleanNames = namesOf(({ type }) => type === 'boolean');
const optionalNames = namesOf(({ isOptional }) => isOptional);

/** With the address, and without the formats of the dates, which are parsed once, by `readDate`. */
const validator = Compile({
  ...Subscription,
  properties: {
    ...Subscription.properties,
    ...Object.fromEntries(dateNames.map((name) => [name, unformatted(name)])),
    email: {},
  },
});

/**
 * Checks a row against the contract and normalises it: dates in one format, booleans as
 * strings, an optional field that is `null` as absent, fields in the contract's order
 * (`docs/decisions/imports.md#lenient-import`). Everything else stays as it is. A row is a record
 * as the report returns it, plus the subscriber's `email`. Adds to `spellings`.
 */
export function checkRow(value: unknown, spellings: Spellings = new Map()): CheckedRow {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      faults: [{ field: '', value: shownValue(value), rule: 'a JSON object with the fields of a subscription' }],
    };
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const { email } = fields;
  const candidate = { ...fields }; // with the address: leaving it out takes 1 µs longer
  const seconds = dateNames.map((name) => readDate(fields[name]));
  normalise(candidate, seconds, spellings);
  const address = email === undefined || email === null ? null : normalisedEmail(email);
  const [createdDate, activationDate, expirationDate] = seconds;
  if (
    validator.Check(candidate) &&
    !reservedIds.has(candidate.id) &&
    isWellFormed(candidate) &&
    address !== undefined &&
    createdDate !== undefined &&
    activationDate !== undefined &&
    expirationDate !== undefined
  ) {
    return { row: toRow(candidate, { createdDate, activationDate, expirationDate }, address) };
  }
  return { faults: findFaults(candidate, fields, seconds, address === undefined ? email : undefined) };
}

function unformatted(name: string): TSchema {
  const { format: _, ...schema } = schemaAt([name]) as TSchema & { readonly format?: string };
  return schema;
}

/** Whole UTC epoch seconds of a date, without its fraction. */
function readDate(value: unknown): number | undefined {
  return typeof value === 'string' ? parseInstant(value)?.seconds : undefined;
}

function normalisedEmail(value: unknown): string | undefined {
  const text = typeof value === 'string' ? normaliseEmail(value) : '';
  return fitsText(Email, text) && text.isWellFormed() ? text : undefined;
}

/**
 * Whether no string of a record contains half of a surrogate pair: UTF-8 cannot represent one, so
 * the stores would save another string.
 */
const isWellFormed = (subscription: Subscription): boolean =>
  Object.values(subscription).every(isWellFormedValue) && Object.values(subscription.product).every(isWellFormedValue);

const isWellFormedValue = (value: unknown): boolean => typeof value !== 'string' || value.isWellFormed();

function normalise(
  candidate: Record<string, unknown>,
  seconds: readonly (number | undefined)[],
  spellings: Spellings,
): void {
  for (const [index, name] of dateNames.entries()) {
    const date = seconds[index];
    if (date !== undefined && !isWritten(candidate[name])) candidate[name] = formatInstant(date);
  }
  for (const name of optionalNames) if (candidate[name] === null) delete candidate[name];
  for (const name of booleanNames) {
    const value = candidate[name];
    const word = readBoolean(value);
    if (word === undefined || word === value) continue;
    candidate[name] = word;
    if (String(value).toLowerCase() !== word) spellings.set(String(value), word);
  }
  if ('product' in candidate) candidate.product = readProduct(candidate.product);
}

/** A product without its members that are `null`, and with its period as a number. */
function readProduct(product: unknown): unknown {
  if (typeof product !== 'object' || product === null) return product;
  const { period } = product as { readonly period?: unknown };
  const read = typeof period === 'string' ? { ...product, period: readInteger(period) ?? period } : product;
  if (!Object.values(read).includes(null)) return read;
  return Object.fromEntries(Object.entries(read).filter(([name, value]) => value !== null || name === 'id'));
}

/**
 * Whether a valid date is already in the normalised format, as most are: `yyyy-MM-ddTHH:mm:ssZ`,
 * and no leap second.
 */
const isWritten = (date: unknown): boolean =>
  typeof date === 'string' && date.length === 20 && date[10] === 'T' && date.endsWith('Z') && date[17] !== '6';

function toRow(
  subscription: Subscription,
  dates: Pick<SubscriptionRow, 'createdDate' | 'activationDate' | 'expirationDate'>,
  email: string | null,
): SubscriptionRow {
  const { id, status, product, iccid, device_id, auto_renew } = subscription;
  return {
    id,
    ...dates,
    status: status ?? null,
    productId: product.id,
    planId: product.plan_id ?? null,
    iccid,
    deviceId: device_id,
    autoRenew: auto_renew,
    email,
    // without what is undefined, in the order of the contract
    record: JSON.stringify(recordWith((field) => valueAt(subscription, field))),
  };
}

function findFaults(
  candidate: Record<string, unknown>,
  fields: Readonly<Record<string, unknown>>,
  seconds: readonly (number | undefined)[],
  invalidEmail: unknown,
): RowFault[] {
  const faults = new Map<string, RowFault>();
  const add = (path: string, rule: string, value: unknown): void => {
    if (!faults.has(path)) faults.set(path, { field: path, value: shownValue(value), rule });
  };
  for (const [index, name] of dateNames.entries()) {
    if (seconds[index] === undefined && fields[name] !== undefined) add(name, describe([name]), fields[name]);
  }
  for (const { keyword, instancePath, params } of errorsOf(candidate)) {
    const path = instancePath.split('/').slice(1);
    const { requiredProperties = [], additionalProperties = [] } = params as Record<string, readonly string[]>;
    if (keyword === 'required') {
      for (const name of requiredProperties)
        add(dotted([...path, name]), `given: ${describe([...path, name])}`, undefined);
    } else if (keyword === 'additionalProperties') {
      const known = Object.keys((schemaAt(path) as typeof Subscription).properties);
      for (const [index, name] of additionalProperties.entries()) {
        const suggestion = index < suggestionsMax ? didYouMean(name, known) : '';
        add(
          dotted([...path, shownName(name)]),
          `absent: a row has only ${known.join(', ')}${path.length === 0 ? ', email' : ''}${suggestion}`,
          undefined,
        );
      }
    } else if (keyword !== 'boolean') {
      add(dotted(path), describe(path), valueAt(candidate, { path }));
    }
  }
  for (const field of recordFields) {
    const value = valueAt(candidate, field);
    if (!isWellFormedValue(value)) add(field.name, 'well-formed Unicode, without unpaired surrogates', value);
  }
  if (typeof candidate.id === 'string' && reservedIds.has(candidate.id))
    add('id', `no name of an operation: ${[...reservedIds].join(', ')}`, candidate.id);
  if (invalidEmail !== undefined) faults.set('email', { field: 'email', value: null, rule: ruleOf(Email) });
  // it has more unknown fields than the library lists errors
  if (faults.size === 0) add('', 'a JSON object with the fields of a subscription alone', undefined);
  return [...faults.values()].slice(0, faultsMax);
}

/** A record with such an id could not be read by its id: the path is that of another operation. */
const reservedIds: ReadonlySet<string> = new Set(
  Object.values(operations).flatMap(({ path }) => /\/subscription\/([\w-]+)$/.exec(path)?.[1] ?? []),
);

/** Unknown fields of an object for which a known one is suggested: each suggestion takes 10 µs. */
const suggestionsMax = 4;

/** Most faults that are named of a row, as of a request. */
const faultsMax = 32;

/** More errors than known fields can have: each has one or two. */
const errorsMax = 200;

/** Every error of a record; the library's limit is global, and 8 by default. */
function errorsOf(candidate: Record<string, unknown>): ReturnType<typeof validator.Errors>[1] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: errorsMax });
  try {
    const [, errors] = validator.Errors(candidate);
    return errors;
  } finally {
    Settings.Set({ maxErrors });
  }
}

const dotted = (path: readonly string[]): string => path.join('.');

/** The rule for the field at a path; a date is read as that of a filter is. */
function describe(path: readonly string[]): string {
  if (dateNames.some((name) => name === dotted(path))) return `${dateTimeRule}, such as 2024-05-01T00:00:00Z`;
  const schema = schemaAt(path);
  return 'properties' in schema ? 'a JSON object' : ruleOf(schema);
}

function schemaAt(path: readonly string[]): TSchema {
  let schema: TSchema = Subscription;
  for (const name of path) {
    const { properties } = schema as { properties?: Record<string, TSchema> };
    schema = properties?.[name] ?? schema;
  }
  return schema;
}

export interface RowFault {
  /** Name of the field, `product.id` for one of the product; empty for the row as a whole. */
  readonly field: string;
  /** The value as JSON, shortened; `null` if there is none. */
  readonly value: string | null;
  /** The rule, with a valid example. */
  readonly rule: string;
}

/** One row of a source, valid or not. */
export interface SourceRow {
  /** Line of the source on which the row begins, from 1. */
  readonly line: number;
  /** The row as it appears in the source. */
  readonly raw: string;
  /** The row's value, or why it could not be read. */
  readonly content: { readonly value: unknown } | { readonly faults: readonly RowFault[] };
}

/**
 * Longest row that is read, in bytes. The longest valid record has 15,400 if each of its characters
 * is escaped; a typical one has 450.
 */
export const rowBytesMax = 16_384;

/** Maximum characters of a name or value shown in a fault. */
const shownMax = 80;

/** A value as shown in a fault: the beginning of its JSON, in which words with `@` are `***`. */
export const shownValue = (value: unknown): string | null =>
  value === undefined ? null : shorten(withoutAddresses(JSON.stringify(value) ?? String(value)), shownMax);

/** A name that a source gives to a value, as shown in a fault. */
export const shownName = (name: string): string => shorten(withoutAddresses(name), shownMax);

/** A cell too many puts the address of a subscriber into another field. */
function withoutAddresses(text: string): string {
  if (!text.includes('@')) return text;
  const words = text.split(/([\s"'<>,;()[\]{}]+)/);
  return words.map((word) => (word.includes('@') ? '***' : word)).join('');
}
