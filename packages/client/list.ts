import { reportPaths } from '../contract/report.ts';
import type { Api, JsonResponse } from './api.ts';
import type { CallOptions } from './options.ts';
import { bodyOf, isLong, type NotFound, notFoundIn, type SubscriptionQuery } from './query.ts';
import type { Subscription } from './records.ts';

/** One page of a report with its totals. */
export interface SubscriptionPage<Item = Subscription> {
  readonly records: readonly Item[];
  /**
   * Number of records of the whole report, from the same snapshot as the page. This and the
   * following numbers are `NaN` if another server of the API does not send them.
   */
  readonly totalCount: number;
  readonly totalPages: number;
  readonly currentPage: number;
  /** Why no record matches: none has a status, product or plan of the filters. */
  readonly explanation: string | undefined;
  /** The values of the query's lists that no record has, whatever its other filters. */
  readonly notFound: NotFound;
  /** `cursor` of the following page; `undefined` on the last page. */
  readonly nextCursor: string | undefined;
  /** `cursor` of the previous page; `undefined` on the first page. */
  readonly previousCursor: string | undefined;
  readonly headers: Headers;
  readonly correlationId: string;
}

/** Options of a report. */
export interface ListOptions<Parse extends boolean = boolean> extends CallOptions {
  /** Whether the records have `Date`s and a boolean `auto_renew`; false by default. */
  readonly parse?: Parse | undefined;
}

/** A report. Each page is requested only when it is needed. */
export interface SubscriptionList<Item> extends AsyncIterable<Item> {
  /**
   * Yields the pages, starting at the page of the query. Throws `TypeError` if a response does not
   * say where the report continues, nor that it has all records.
   */
  pages(): AsyncGenerator<SubscriptionPage<Item>, void, undefined>;
  /** Returns the page with this number, by default the page of the query. */
  page(number?: number): Promise<SubscriptionPage<Item>>;
  /** Returns all records. Rejects with `RangeError` if there are more than `max`. */
  toArray(options: { readonly max: number }): Promise<Item[]>;
  /** Returns the first record, or `undefined` if there is none. */
  first(): Promise<Item | undefined>;
  /**
   * Returns the number of records. Rejects with `TypeError` if another server of the API sends
   * none.
   */
  total(): Promise<number>;
}

/** How a list requests its pages. */
interface ListSource<Item> {
  readonly api: Api;
  readonly query: SubscriptionQuery;
  /** Whether the query is sent in the body, so that it does not appear in URLs or logs. */
  readonly inBody: boolean;
  readonly convert: (record: Subscription) => Item;
  readonly options: ListOptions;
}

export function createList<Item>(source: ListSource<Item>): SubscriptionList<Item> {
  const readPage = (position: Partial<SubscriptionQuery>) => requestPage(source, position);
  return {
    pages: () => walk(source),
    page: (number) => readPage(number === undefined ? {} : { page: number, cursor: undefined }),
    toArray: async ({ max }) => {
      const records: Item[] = [];
      for await (const page of walk(source)) {
        const total = Math.max(page.totalCount || 0, records.length + page.records.length);
        const rule = `it must have at most max = ${max} records: current value is ${total}`;
        if (total > max) throw new RangeError(`Cannot read the report into an array: ${rule}`);
        records.push(...page.records);
      }
      return records;
    },
    first: async () => (await readPage(start)).records[0],
    total: async () => {
      const { totalCount } = await readPage(start);
      if (totalCount >= 0) return totalCount;
      throw new TypeError('Cannot count: the response must have X-Total-Count');
    },
    async *[Symbol.asyncIterator]() {
      for await (const page of walk(source)) yield* page.records;
    },
  };
}

const start: Partial<SubscriptionQuery> = { size: 1, page: undefined, cursor: undefined };

async function* walk<Item>(source: ListSource<Item>): AsyncGenerator<SubscriptionPage<Item>, void, undefined> {
  const { size, page: first, cursor } = source.query;
  let position: Position | undefined = { page: first, cursor };
  // a page number and a cursor are positions among pages of one size
  const isSized = (size ?? first ?? cursor) !== undefined;
  while (position !== undefined) {
    const here: Position = position;
    const page: SubscriptionPage<Item> = await (isSized
      ? requestPage(source, here)
      : source.api.widest((widest) => requestPage(source, { ...here, size: widest })));
    yield page;
    position = positionAfter(page, here);
  }
}

type Position = Pick<SubscriptionQuery, 'page' | 'cursor'>;

async function requestPage<Item>(
  { api, query, inBody, convert, options }: ListSource<Item>,
  position: Partial<SubscriptionQuery>,
): Promise<SubscriptionPage<Item>> {
  const wanted = { ...query, ...position };
  const response =
    inBody || isLong(query)
      ? await api.json<Subscription[]>(reportPaths.searchSubscriptions, { body: bodyOf(wanted) }, options)
      : await api.json<Subscription[]>(reportPaths.listSubscriptions, { query: wanted }, options);
  return pageOf(response, convert, wanted);
}

function pageOf<Item>(
  { body, headers, correlationId }: JsonResponse<Subscription[]>,
  convert: (record: Subscription) => Item,
  query: SubscriptionQuery,
): SubscriptionPage<Item> {
  return {
    records: body.map(convert),
    totalCount: numberIn(headers, 'x-total-count'),
    totalPages: numberIn(headers, 'x-total-pages'),
    explanation: explanationIn(headers),
    notFound: notFoundIn(headers, query),
    currentPage: numberIn(headers, 'x-current-page'),
    nextCursor: cursorOf(headers, 'next'),
    previousCursor: cursorOf(headers, 'previous'),
    headers,
    correlationId,
  };
}

/** The number in a header; `NaN` if it is absent, or something else. */
export const numberIn = (headers: Headers, name: string): number =>
  Number(/^(\d{1,16})$/.exec(headers.get(name) ?? '')?.[1]);

/** The header as it was before it was percent-encoded. */
export function explanationIn(headers: Headers): string | undefined {
  try {
    // of any server: no control characters for a terminal
    return decodeURIComponent(headers.get('x-explanation') ?? '%').replaceAll(/\p{Cc}/gu, ' ');
  } catch {
    return undefined; // absent, or of another server
  }
}

/**
 * The cursor of a search, or of a link of a report. The client never requests a link itself,
 * because it could lead to another origin.
 */
const cursorOf = (headers: Headers, direction: 'next' | 'previous'): string | undefined =>
  headers.get(`x-${direction}-cursor`) ?? /[?&]cursor=([\w-]+)/.exec(headers.get(`x-${direction}-page`) ?? '')?.[1];

/** The following page: a cursor, or a page number in the link of another server of the API. */
function positionAfter(
  { nextCursor: cursor, headers, records, totalCount }: SubscriptionPage<unknown>,
  here: Position,
): Position | undefined {
  const link = cursor ?? headers.get('x-next-page');
  // a first page without a link is the whole report only if it has all records
  if (link === null && (!records[0] || here.page || here.cursor || records.length >= totalCount)) return undefined;
  const page = cursor ? undefined : Number(/[?&]page=(\d+)/.exec(link ?? '')?.[1]);
  // an empty page, and one that leads to itself, would have no end
  if (!records[0] || Number.isNaN(page) || (page === here.page && cursor === here.cursor))
    throw new TypeError(
      `Cannot continue the report: the response must have X-Next-Page with a new cursor or page, and records: current value is '${link}'`,
    );
  return { page, cursor };
}
