import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { recordColumns } from '../../packages/contract/csv.ts';
import { dateFields } from '../../packages/contract/query.ts';
import { localDateTime } from '../support/zoned.ts';
import { Difference, expectEqual } from './failure.ts';
import { fieldsOf, type Query, type Version } from './model.ts';
import type { Received, SendOptions, Session } from './session.ts';

/** The client and the service of a read. */
export interface Source {
  readonly session: Session;
  readonly service: 0 | 1;
  readonly tenant: string;
}

/** A request for a report: a query string, or the body of a search. */
export interface Ask {
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** One page of a report. */
export interface Page {
  /** Each record as `shown` in the format of the page. */
  readonly records: readonly string[];
  readonly total: number;
  readonly pages: number;
  readonly number: number;
  readonly next: Ask | undefined;
  readonly previous: Ask | undefined;
  readonly etag: string | undefined;
  /** Where the interval of `expires-within` begins, in milliseconds; 0 without that filter. */
  readonly now: number;
}

export type Format = 'json' | 'csv' | 'ndjson';
export const formatOf = (query: Query): Format => (query.format ?? 'json') as Format;

/** The request for a query, as a URL or as a search. */
export const askFor = (query: Query, isSearch: boolean): Ask =>
  isSearch ? { path: '/search', body: searchBody(query) } : { path: `?${new URLSearchParams(query)}` };

/** The body of a search: numbers, booleans and lists have their JSON types. */
function searchBody(query: Query): Record<string, unknown> {
  const typed = (name: string, value: string): unknown => {
    if (name === 'size' || name === 'page') return Number(value);
    if (name === 'status' || name === 'fields') return value.split(',');
    return name === 'auto-renew' || name === 'all' ? value === 'true' : value;
  };
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, typed(name, value)]));
}

export async function send({ session, service, tenant }: Source, ask: Ask, headers: Headers = {}): Promise<Received> {
  if (ask.body === undefined) return session.get(service, tenant, ask.path, headers);
  const body = Buffer.from(JSON.stringify(ask.body));
  return session.post(service, tenant, ask.path, body, { ...headers, 'content-type': 'application/json' });
}
type Headers = NonNullable<SendOptions['headers']>;

/** Reads a page of a query, which the request may have in another form. */
export async function readPage(source: Source, ask: Ask, query: Query): Promise<Page> {
  const { headers, text } = expectStatus(await send(source, ask), 200, JSON.stringify(ask));
  const number = (name: string): number => Number(headers.get(name));
  return {
    records: recordsOf(text, formatOf(query), query),
    total: number('x-total-count'),
    pages: number('x-total-pages'),
    number: number('x-current-page'),
    next: following(ask, headers, 'next'),
    previous: following(ask, headers, 'previous'),
    etag: headers.get('etag') ?? undefined,
    now: nowOf(headers),
  };
}

/** What precedes the path of a request in links. */
export const pathPrefix = '/connect-api/v1/subscription';

/** The request for the page beside a page, if there is one. */
function following(ask: Ask, headers: Received['headers'], side: 'next' | 'previous'): Ask | undefined {
  if (ask.body === undefined) {
    const link = headers.get(`x-${side}-page`);
    return link === null ? undefined : { path: link.slice(link.indexOf(pathPrefix) + pathPrefix.length) };
  }
  const cursor = headers.get(`x-${side}-cursor`);
  const { page: _page, ...rest } = ask.body;
  return cursor === null ? undefined : { ...ask, body: { ...rest, cursor } };
}

/** The beginning of the interval that `expires-within` resolved to, in milliseconds. */
function nowOf(headers: Received['headers']): number {
  const applied = new URLSearchParams(headers.get('x-applied-filters') ?? '');
  const begin = applied.get('expires-after');
  if (begin === null) return 0;
  const now = Date.parse(begin);
  const hourMs = 3_600_000;
  // a walk by cursor keeps the time of its first page
  if (Math.abs(Date.now() - now) > hourMs) throw new Difference(`expires-within begins at ${begin}`);
  return now;
}

/** Reads a report page by page, following the link or the cursor of each page. */
export async function* readPages(source: Source, first: Ask, query: Query): AsyncGenerator<Page> {
  for (let ask: Ask | undefined = first; ask !== undefined; ) {
    const page: Page = await readPage(source, ask, query);
    yield page;
    ask = page.next;
  }
}

/** Records that were read in one response. */
export interface Whole {
  readonly records: readonly string[];
  readonly now: number;
}

/** Reads an export, checks its summary line, and returns its records. */
export async function readWhole(source: Source, query: Query, isSearch = false): Promise<Whole> {
  const asked = { ...query, all: 'true', format: query.format ?? 'ndjson' };
  const what = JSON.stringify(asked);
  const received = await send(source, askFor(asked, isSearch), { prefer: 'export-summary' });
  const { text, headers } = expectStatus(received, 200, what);
  const end = text.lastIndexOf('{"summary"');
  const { summary } = JSON.parse(end < 0 ? '{}' : text.slice(end)) as { summary?: { rows: number; sha256: string } };
  const body = text.slice(0, end);
  const records = recordsOf(body, formatOf(asked), asked);
  const sha256 = createHash('sha256').update(body).digest('hex');
  expectEqual(`the summary line of ${what}`, summary, { rows: records.length, sha256 });
  expectEqual(`the announced number of records of ${what}`, Number(headers.get('x-total-count')), records.length);
  return { records, now: nowOf(headers) };
}

export const summaryPath = (query: Query): string => `/summary?${new URLSearchParams(query)}`;

/** Reads a summary: its total, the counts of each dimension, and the names of products. */
export async function readSummary({ session, service, tenant }: Source, query: Query) {
  const path = summaryPath(query);
  const { text, headers } = expectStatus(await session.get(service, tenant, path), 200, path);
  const { total, by } = JSON.parse(text) as {
    total: number;
    by: Record<string, { value: string | null; name?: string; count: number }[]>;
  };
  return { total, by, now: nowOf(headers), countsOf: (dimension: string) => countsOf(by[dimension] ?? []) };
}

const countsOf = (rows: readonly { readonly value: string | null; readonly count: number }[]) =>
  new Map(rows.map(({ value, count }) => [value, count]));

/** A version as a page or an export of a format shows it, with the fields of a query. */
export function shown({ record, text }: Version, format: Format, query: Query): string {
  if (format !== 'csv') return query.fields === undefined ? text : JSON.stringify(fieldsOf(record, query));
  const { product, ...rest } = record;
  const { dates, zone } = query;
  const cells = {
    ...rest,
    ...(dates === 'local' &&
      Object.fromEntries(Object.values(dateFields).map((name) => [name, localDateTime(record[name], zone)]))),
    ...Object.fromEntries(Object.entries(product).map(([k, v]) => [`product.${k}`, v])),
  };
  return JSON.stringify(columnsOf(query).map((name) => guarded(String(cells[name as keyof typeof cells] ?? ''))));
}

/** The columns of CSV, in the order of the query. */
function columnsOf({ fields }: Query): readonly string[] {
  const ofProduct = recordColumns.filter((column) => column.startsWith('product.'));
  return fields?.split(',').flatMap((name) => (name === 'product' ? ofProduct : [name])) ?? recordColumns;
}

/** A cell that a spreadsheet does not execute (docs/readers/report.md, "Formats"). */
export const guarded = (cell: string): string => (/^'*[=+\-@＝＋－＠]/.test(cell) ? `'${cell}` : cell);

function recordsOf(body: string, format: Format, query: Query): string[] {
  if (format === 'ndjson') return body.split('\n').slice(0, -1);
  if (format === 'csv') {
    const [header, ...rows] = parse(body, { relax_column_count: true }) as string[][];
    expectEqual('the header of CSV', header, columnsOf(query));
    return rows.map((cells) => JSON.stringify(cells));
  }
  const texts = (JSON.parse(body) as unknown[]).map((record) => JSON.stringify(record));
  expectEqual('the text of a page', body, `[${texts.join(',')}]`);
  return texts;
}

export function expectStatus(received: Received, status: number, what: string): Received {
  if (received.status === status) return received;
  throw new Difference(`${what} returned ${received.status}, expected ${status}: ${received.text.slice(0, 500)}`);
}
