import { createHash } from 'node:crypto';
import { Random } from './random.ts';

// What a report must return, computed from records in memory. This file does not use our SQL,
// counts, cursors or caches; it follows docs/report.md, docs/summary.md and docs/changes.md only.

/** A record as in the source, with fields in the contract's order, plus the subscriber's e-mail. */
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

/** One version of a record. */
export interface Version {
  readonly record: ModelRecord;
  readonly email: string;
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

/** The query parameters of a report that the model supports. */
export interface Filters {
  readonly status?: string;
  readonly 'product-id'?: string;
  readonly 'plan-id'?: string;
  readonly iccid?: string;
  readonly email?: string;
  readonly 'device-id'?: string;
  readonly 'auto-renew'?: string;
  readonly before?: string;
  readonly after?: string;
  readonly 'date-field'?: 'created' | 'activation' | 'expiration';
  readonly sort?: string;
}

const statuses = ['PENDING', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'DEPLETED', 'EXPIRED', 'EXPIRED', 'PAUSED'];
const base = Date.UTC(2025, 0, 1) / 1000;
const day = 86_400;
/** Number of ids that records are drawn from, so that sources often contain stored ids. */
export const idsMax = 2_500;

const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;

/** Generates versions of records from a seed; the product's name makes each one unique. */
export function makeVersions(seed: number, count: number): Version[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, index) => makeVersion(random, `v${seed}-${index}`));
}

function makeVersion(random: Random, name: string): Version {
  const number = random.between(0, idsMax - 1);
  const created = base + Math.floor(number / 5) * 1_000 + (random.chance(0.1) ? random.between(0, 90 * day) : 0);
  const activated = created + random.pick([-4, 0, 0, 3, day]);
  const product = random.between(0, 11);
  const sim = Math.floor(number / 3);
  const record: ModelRecord = {
    id: `${Buffer.from(`id-${number}`).toString('base64url')}${number % 40 === 0 ? '=' : ''}`,
    ...(random.chance(0.95) && { status: random.pick(statuses) }),
    activationDate: iso(activated),
    expirationDate: iso(activated + random.between(1, 60) * day),
    createdDate: iso(created),
    product: { id: `product-${product}`, name, period: 30, period_unit: 'DAYS', plan_id: `plan-${product % 4}` },
    iccid: `89445${String(sim).padStart(14, '0')}`,
    device_id: `device-${sim % 60}`,
    auto_renew: random.chance(0.4) ? 'true' : 'false',
  };
  const text = JSON.stringify(record);
  const digest = createHash('sha256').update(text).digest().readBigUInt64LE();
  return { record, email: `user${sim % 90}@example.com`, text, digest };
}

/** A version as a row of NDJSON. */
export const toRow = ({ record, email }: Version): string => JSON.stringify({ ...record, email });

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

/** Number of steps in which a change can be applied. */
export const lengthOf = ({ kind, versions, ids }: Change): number =>
  kind === 'replace' ? 1 : Math.max(versions.length, ids.length);

/**
 * How many rows of a change have been applied if the store holds exactly these records; `undefined`
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

const dateOf = ({ record }: Version, field: string): string =>
  field.startsWith('activation')
    ? record.activationDate
    : field.startsWith('expiration')
      ? record.expirationDate
      : record.createdDate;

/** Whether a version matches the filters. */
export function matches(version: Version, filters: Filters): boolean {
  const { record, email } = version;
  const date = dateOf(version, filters['date-field'] ?? 'created');
  return (
    (filters.status === undefined || filters.status.split(',').includes(record.status ?? '')) &&
    (filters['product-id'] === undefined || filters['product-id'] === record.product.id) &&
    (filters['plan-id'] === undefined || filters['plan-id'] === record.product.plan_id) &&
    (filters.iccid === undefined || filters.iccid === record.iccid) &&
    (filters.email === undefined || filters.email.toLowerCase() === email) &&
    (filters['device-id'] === undefined || filters['device-id'] === record.device_id) &&
    (filters['auto-renew'] === undefined || filters['auto-renew'] === record.auto_renew) &&
    (filters.before === undefined || date < filters.before) &&
    (filters.after === undefined || date > filters.after)
  );
}

/** Negative if the first version precedes the second one in the order of a report. */
export function compareVersions(a: Version, b: Version, sort = 'createdDate'): number {
  const field = sort.replace('-', '');
  const [dateA, dateB] = [dateOf(a, field), dateOf(b, field)];
  const order = dateA === dateB ? (a.record.id < b.record.id ? -1 : 1) : dateA < dateB ? -1 : 1;
  return sort.startsWith('-') ? -order : order;
}

/** The versions of a report in its order. */
export const reportOf = (state: State, filters: Filters): Version[] =>
  [...state.values()]
    .filter((version) => matches(version, filters))
    .sort((a, b) => compareVersions(a, b, filters.sort));

/** Counts by a dimension of the summary; records without a status are counted under `null`. */
export type Counts = ReadonlyMap<string | null, number>;

/** The summary of a report by one dimension. */
export function summaryOf(state: State, filters: Filters, dimension: string): Counts {
  const counts = new Map<string | null, number>();
  for (const version of state.values()) count(counts, version, filters, dimension, 1);
  return counts;
}

/** Whether a summary is that of a report after some number of rows of a change. */
export function isSummaryDuring(
  before: State,
  change: Change,
  filters: Filters,
  dimension: string,
  found: Counts,
): boolean {
  if (change.kind === 'replace')
    return [0, 1].some((rows) => areEqual(summaryOf(applyChange(before, change, rows), filters, dimension), found));
  const state = new Map(before);
  const counts = new Map(summaryOf(before, filters, dimension));
  for (let rows = 0; !areEqual(counts, found); rows += 1) {
    if (rows === lengthOf(change)) return false;
    const version = change.versions[rows];
    const id = version?.record.id ?? change.ids[rows] ?? '';
    count(counts, state.get(id), filters, dimension, -1);
    count(counts, version, filters, dimension, 1);
    if (version === undefined) state.delete(id);
    else state.set(id, version);
  }
  return true;
}

function count(
  counts: Map<string | null, number>,
  version: Version | undefined,
  filters: Filters,
  dimension: string,
  by: 1 | -1,
): void {
  if (version === undefined || !matches(version, filters)) return;
  const value = keyOf(version, dimension);
  const next = (counts.get(value) ?? 0) + by;
  if (next === 0) counts.delete(value);
  else counts.set(value, next);
}

function keyOf({ record }: Version, dimension: string): string | null {
  if (dimension === 'status') return record.status ?? null;
  if (dimension === 'product-id') return record.product.id;
  return dimension === 'auto-renew' ? record.auto_renew : record.createdDate.slice(0, 7);
}

const areEqual = (a: Counts, b: Counts): boolean =>
  a.size === b.size && [...a].every(([value, number]) => b.get(value) === number);

/** Random filters, most of which match some record. */
export function makeFilters(random: Random): Filters {
  const date = () => iso(base + random.between(0, 100) * day + random.between(0, 1_000));
  const [first, second] = [date(), date()].sort();
  return {
    ...(random.chance(0.4) && { status: random.chance(0.5) ? 'ACTIVE' : 'EXPIRED,DEPLETED' }),
    ...(random.chance(0.25) && { 'product-id': `product-${random.between(0, 12)}` }),
    ...(random.chance(0.1) && { 'plan-id': `plan-${random.between(0, 4)}` }),
    ...(random.chance(0.1) && { iccid: `89445${String(random.between(0, idsMax / 3)).padStart(14, '0')}` }),
    ...(random.chance(0.1) && { email: `USER${random.between(0, 90)}@example.com` }),
    ...(random.chance(0.1) && { 'device-id': `device-${random.between(0, 60)}` }),
    ...(random.chance(0.15) && { 'auto-renew': random.pick(['true', 'false']) }),
    ...(random.chance(0.3) && first !== second && { after: first, before: second }),
    ...(random.chance(0.3) && { 'date-field': random.pick(['created', 'activation', 'expiration'] as const) }),
    ...(random.chance(0.5) && {
      sort: random.pick([
        'createdDate',
        '-createdDate',
        'activationDate',
        '-activationDate',
        'expirationDate',
        '-expirationDate',
      ]),
    }),
  };
}
