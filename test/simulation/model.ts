import { createHash } from 'node:crypto';
import { dateFields, type filterParameters } from '../../packages/contract/query.ts';
import type { SummaryGroup } from '../../packages/contract/summary.ts';
import { instantMs, localDate } from '../support/zoned.ts';

// What a report must return, computed from records in memory. This file does not use our SQL,
// counts, cursors or caches; it follows docs/readers/report.md, docs/readers/summary.md and
// docs/readers/changes.md only.

/** A record as in the source, with fields in the contract's order. */
export interface ModelRecord {
  readonly id: string;
  readonly status?: string;
  readonly activationDate: string;
  readonly expirationDate: string;
  readonly createdDate: string;
  readonly product: {
    readonly id: string;
    readonly name: string;
    readonly period: number;
    readonly period_unit: string;
    readonly plan_id: string;
  };
  readonly iccid: string;
  readonly device_id: string;
  readonly auto_renew: 'true' | 'false';
}

type DateName = 'createdDate' | 'activationDate' | 'expirationDate';

/** One version of a record. */
export interface Version {
  readonly record: ModelRecord;
  /** The subscriber's email as in the source. */
  readonly email: string;
  /** The dates in milliseconds. */
  readonly times: Readonly<Record<DateName, number>>;
  /** The record's JSON in responses. No two versions of one id have the same JSON. */
  readonly text: string;
  /** A 64-bit digest of the JSON. */
  readonly digest: bigint;
}

/** All records of one tenant by id. */
export type State = ReadonlyMap<string, Version>;

/** One change of a tenant's records, with its rows in the order of the source. */
export interface Change {
  readonly kind: 'import' | 'replace' | 'delete';
  readonly versions: readonly Version[];
  readonly ids: readonly string[];
}

/** The parameters of a request by name, as strings. */
export type Query = Readonly<Record<string, string>>;

/** The state after the first `rows` rows of a change; a replacement is all or nothing. */
export function applyChange(before: State, change: Change, rows: number): State {
  if (change.kind === 'replace') {
    return rows === 0 ? before : new Map(change.versions.map((version) => [version.record.id, version]));
  }
  const after = new Map(before);
  for (const id of change.ids.slice(0, rows)) after.delete(id);
  for (const version of change.versions.slice(0, rows)) after.set(version.record.id, version);
  return after;
}

/** Number of rows of a complete change: 1 for a replacement. */
export const lengthOf = ({ kind, versions, ids }: Change): number =>
  kind === 'replace' ? 1 : versions.length + ids.length;

/**
 * Returns the largest number of rows after which the state holds exactly these records; `undefined`
 * if no number explains them.
 */
export function rowsApplied(before: State, change: Change, texts: readonly string[]): number | undefined {
  const digestOf = (text: string) => createHash('sha256').update(text).digest().readBigUInt64LE();
  const found = texts.reduce((sum, text) => sum ^ digestOf(text), 0n);
  if (change.kind === 'replace') {
    return [1, 0].find((rows) => digestOfState(applyChange(before, change, rows), texts.length) === found);
  }
  const state = new Map(before);
  let digest = [...state.values()].reduce((sum, version) => sum ^ version.digest, 0n);
  let last: number | undefined;
  for (let rows = 0; ; rows += 1) {
    if (digest === found && state.size === texts.length) last = rows;
    if (rows === lengthOf(change)) return last;
    const id = change.ids[rows] ?? change.versions[rows]?.record.id ?? '';
    digest ^= state.get(id)?.digest ?? 0n;
    state.delete(id);
    const version = change.versions[rows];
    if (version === undefined) continue;
    digest ^= version.digest;
    state.set(id, version);
  }
}

function digestOfState(state: State, size: number): bigint | undefined {
  return state.size === size ? [...state.values()].reduce((sum, { digest }) => sum ^ digest, 0n) : undefined;
}

type Filter = Exclude<keyof typeof filterParameters, 'sort' | 'date-field' | 'zone'>;
type Match = (version: Version) => boolean;

/** What each filter of the contract selects. `now` is in milliseconds. */
const filters: Readonly<Record<Filter, (value: string, query: Query, now: number) => Match>> = {
  id:
    (value) =>
    ({ record }) =>
      record.id === value,
  iccid:
    (value) =>
    ({ record }) =>
      record.iccid === value,
  email: (value) => {
    const normalised = normalise(value);
    return ({ email }) => normalise(email) === normalised;
  },
  'product-id':
    (value) =>
    ({ record }) =>
      record.product.id === value,
  status: (value) => {
    const words = value.split(',');
    return ({ record: { status } }) => words.includes(status ?? 'none');
  },
  before: (value, query) => {
    const [at, name] = [instantMs(value, query.zone), dateNameOf(query)];
    return ({ times }) => times[name] < at;
  },
  after: (value, query) => {
    const [at, name] = [instantMs(value, query.zone), dateNameOf(query)];
    return ({ times }) => times[name] > at;
  },
  'device-id':
    (value) =>
    ({ record }) =>
      record.device_id === value,
  'plan-id':
    (value) =>
    ({ record }) =>
      record.product.plan_id === value,
  'auto-renew':
    (value) =>
    ({ record }) =>
      record.auto_renew === value,
  'created-from': (value, { zone }) => {
    const at = instantMs(value, zone);
    return ({ times }) => times.createdDate >= at;
  },
  'created-to': (value, { zone }) => {
    const at = instantMs(value, zone);
    return ({ times }) => times.createdDate < at;
  },
  'expires-within': (value, _query, now) => {
    const end = now + durationOf(value);
    return ({ times }) => times.expirationDate > now && times.expirationDate <= end;
  },
};

const normalise = (email: string): string => email.trim().normalize('NFC').toLowerCase();

const dateNameOf = (query: Query): DateName =>
  dateFields[(query['date-field'] ?? 'created') as keyof typeof dateFields];

const hour = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { h: hour, d: 24 * hour, w: 168 * hour };

/** Milliseconds of a duration that the simulation draws. */
export function durationOf(text: string): number {
  const [, count, unit = ''] = /^(\d+)([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (unitMs[unit] ?? 0);
  const [, days = 0, hours = 0, minutes = 0] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(text) ?? [];
  return Number(days) * 24 * hour + Number(hours) * hour + Number(minutes) * 60_000;
}

/** Whether a version matches the filters of a query, at a time in milliseconds. */
export function matcherOf(query: Query, now: number): Match {
  const matches = (Object.keys(filters) as Filter[]).flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [filters[name](value, query, now)];
  });
  return (version) => matches.every((match) => match(version));
}

/** A record, or one of its former versions, with the fields of a query (`fields`). */
export function fieldsOf(record: object, { fields }: Query): object {
  if (fields === undefined) return record;
  const names = fields.split(',');
  const members = Object.entries(record).flatMap(([name, value]) => {
    if (names.includes(name)) return [[name, value] as const];
    if (!names.some((each) => each.startsWith(`${name}.`))) return [];
    const parts = Object.entries(value as object).filter(([part]) => names.includes(`${name}.${part}`));
    return [[name, Object.fromEntries(parts)] as const];
  });
  return Object.fromEntries(members);
}

/** Negative if the first version precedes the second one in the order of a report. */
export function compareVersions(a: Version, b: Version, sort = 'createdDate'): number {
  const name = sort.replace('-', '') as DateName;
  const order = a.times[name] - b.times[name] || (a.record.id < b.record.id ? -1 : 1);
  return sort.startsWith('-') ? -order : order;
}

/** The versions of a report in its order. */
export const reportOf = (state: State, query: Query, now: number): Version[] =>
  [...state.values()].filter(matcherOf(query, now)).sort((a, b) => compareVersions(a, b, query.sort));

/**
 * Whether the parameters of a report are valid one by one but not together, so that the request is
 * rejected (docs/readers/report.md).
 */
export function isContradictory(query: Query): boolean {
  const time = (name: string): number | undefined =>
    query[name] === undefined ? undefined : instantMs(query[name], query.zone);
  const isEmpty = (end: string, start: string): boolean => (time(end) ?? Infinity) <= (time(start) ?? -Infinity);
  const dateField = query['date-field'] ?? 'created';
  const isBounded = query.before !== undefined || query.after !== undefined;
  const isOfCreation = dateField === 'created';
  return (
    isEmpty('before', 'after') ||
    isEmpty('created-to', 'created-from') ||
    (isOfCreation && (isEmpty('before', 'created-from') || isEmpty('created-to', 'after'))) ||
    (dateField === 'expiration' && query['expires-within'] !== undefined && isBounded) ||
    (query.all === 'true' &&
      ((query.format ?? 'json') === 'json' || query.size !== undefined || query.page !== undefined))
  );
}

/** Counts by a dimension of the summary; records without a status are counted under `null`. */
export type Counts = ReadonlyMap<string | null, number>;

/** The value of each dimension of the contract. */
const dimensions: Readonly<Record<SummaryGroup, (version: Version, query: Query) => string | null>> = {
  status: ({ record }) => record.status ?? null,
  'product-id': ({ record }) => record.product.id,
  'plan-id': ({ record }) => record.product.plan_id,
  'auto-renew': ({ record }) => record.auto_renew,
  day: ({ times }, query) => localDate(times[dateNameOf(query)], query.zone),
  month: ({ times }, query) => localDate(times[dateNameOf(query)], query.zone).slice(0, 7),
};

/** The summary of a report by one dimension. */
export function summaryOf(state: State, query: Query, now: number, dimension: SummaryGroup): Counts {
  const counts = new Map<string | null, number>();
  const matches = matcherOf(query, now);
  for (const version of state.values()) if (matches(version)) add(counts, dimensions[dimension](version, query), 1);
  return counts;
}

/** The number of findings of each kind, in the order of the response (docs/readers/findings.md). */
export function findingsOf(state: State, evaluatedAt: number): readonly (readonly [string, number])[] {
  const all = [...state.values()].map(({ record }) => record);
  const active = all.filter(({ status }) => status === 'ACTIVE');
  const withTwo = (records: typeof all, key: (each: ModelRecord) => string, value: (each: ModelRecord) => string) =>
    [...Map.groupBy(records, key)].filter(([, group]) => new Set(group.map(value)).size > 1).length;
  const number = (records: typeof all) => records.length;
  const rounded = all.filter(({ iccid }) => /^\d{15}0{4,}$/.test(iccid));
  const misfits = all.filter((each) => !rounded.includes(each) && isMisfit(each));
  return [
    ['no-status', number(all.filter(({ status }) => status === undefined))],
    ['no-email', 0], // each version has one
    ['created-after-activation', number(all.filter((each) => timeOf(each, 'created') > timeOf(each, 'activation')))],
    ['ends-before-activation', number(all.filter((each) => timeOf(each, 'expiration') < timeOf(each, 'activation')))],
    ['active-past-end', number(active.filter((each) => timeOf(each, 'expiration') < evaluatedAt))],
    ['period-zero', number(all.filter(({ product }) => product.period === 0))],
    [
      'iccid-active-twice',
      withTwo(
        active,
        ({ iccid }) => iccid,
        ({ id }) => id,
      ),
    ],
    [
      'device-on-two-sims',
      withTwo(
        active.filter(({ device_id }) => device_id !== ''),
        ({ device_id }) => device_id,
        ({ iccid }) => iccid,
      ),
    ],
    [
      'product-with-two-names',
      withTwo(
        all,
        ({ product }) => product.id,
        ({ product }) => product.name,
      ),
    ],
    ['iccid-rounded', rounded.length < 5 || rounded.length * 1_000 < all.length ? 0 : rounded.length],
    ['iccid-check-digit', 2 * misfits.length < all.length - rounded.length ? misfits.length : 0],
    ['iccid-lengths', 0], // all have one length
  ];
}

/** Whether the last of 19 digits is not their check digit (Luhn). */
function isMisfit({ iccid }: ModelRecord): boolean {
  const sum = [...iccid].reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 !== 0;
}

const timeOf = (record: ModelRecord, field: 'created' | 'activation' | 'expiration'): number =>
  Date.parse(record[`${field}Date`]);

/** The name of each product: that of its record which was created last, whatever the filters. */
export function productNames(state: State): ReadonlyMap<string, string> {
  const last = new Map<string, Version>();
  for (const version of state.values()) {
    const known = last.get(version.record.product.id);
    if (known === undefined || compareVersions(known, version) < 0) last.set(version.record.product.id, version);
  }
  return new Map([...last].map(([id, { record }]) => [id, record.product.name]));
}

/** Whether a summary is that of a report after some number of rows of a change. */
export function isSummaryDuring(
  before: State,
  change: Change,
  query: Query,
  now: number,
  dimension: SummaryGroup,
  found: Counts,
): boolean {
  const summary = (rows: number) => summaryOf(applyChange(before, change, rows), query, now, dimension);
  if (change.kind === 'replace') return [0, 1].some((rows) => areEqual(summary(rows), found));
  const state = new Map(before);
  const counts = new Map(summary(0));
  const matches = matcherOf(query, now);
  const count = (version: Version | undefined, by: 1 | -1): void => {
    if (version !== undefined && matches(version)) add(counts, dimensions[dimension](version, query), by);
  };
  for (let rows = 0; !areEqual(counts, found); rows += 1) {
    if (rows === lengthOf(change)) return false;
    const version = change.versions[rows];
    const id = version?.record.id ?? change.ids[rows] ?? '';
    count(state.get(id), -1);
    count(version, 1);
    if (version === undefined) state.delete(id);
    else state.set(id, version);
  }
  return true;
}

function add(counts: Map<string | null, number>, value: string | null, by: 1 | -1): void {
  const next = (counts.get(value) ?? 0) + by;
  if (next === 0) counts.delete(value);
  else counts.set(value, next);
}

const areEqual = (a: Counts, b: Counts): boolean =>
  a.size === b.size && [...a].every(([value, number]) => b.get(value) === number);
