import { operations } from '../../contract/operations.ts';
import type { PageLimits } from '../../contract/report.ts';
import type { OrderKey } from '../storage/order-key.ts';
import { type Cursor, encodeCursor } from './cursor.ts';
import { ReportError } from './error.ts';
import { describeFilters } from './filters.ts';
import type { ReportQuery } from './report-query.ts';
import type { ReportPage } from './run.ts';
import { describeExplanation, describeFormat, describeNotFound, writePage } from './write-records.ts';

/** The body of a response, and its headers. */
export interface FormattedReport<Body extends string | Buffer = string> {
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
}

/** Another page of a report: its number, and its cursor unless only the number is known. */
interface PagePointer {
  readonly page: number;
  readonly cursor?: string;
}

/**
 * Formats a page: the stored JSON of the records, and the paging headers
 * (`docs/decisions/responses.md#paging-headers`).
 */
export function formatReport(
  query: ReportQuery,
  page: ReportPage,
  reportUrl: string,
  limits: PageLimits,
): FormattedReport<Buffer> {
  const pages = Math.ceil(page.total / query.size);
  const pointers = pointAround(query, page, limits.firstPage, limits.firstPage + Math.max(pages, 1) - 1);
  const { linkQuery } = query;
  return {
    body: writePage(query, page.records),
    headers: {
      ...describeFormat(query.format),
      ...(linkQuery === undefined
        ? cursorHeaders(pointers)
        : linkHeaders(pointers, `${reportUrl}?${linkQuery}size=${query.size}`, hasLink(linkQuery, reportUrl))),
      'x-total-count': String(page.total),
      'x-total-pages': String(pages),
      'x-current-page': String(query.page),
      'x-count-per-page': String(query.size),
      'x-applied-filters': describeFilters(query, query.canonical),
      ...describeExplanation(page.explanation),
      ...describeNotFound(page.notFound),
    },
  };
}

/** The pages around a page, by the relations of the `Link` header. */
function pointAround(
  { page: here, fingerprint, expiresWithinSeconds, nowSeconds }: ReportQuery,
  { records: { first, last }, hasNext, hasPrevious }: ReportPage,
  firstPage: number,
  lastPage: number,
) {
  const moment = expiresWithinSeconds === undefined ? {} : { nowSeconds };
  const point = (direction: Cursor['direction'], key: OrderKey, page: number): PagePointer => ({
    page,
    cursor: encodeCursor({ direction, key, page, query: fingerprint, ...moment }),
  });
  // A page without records is past the last record, or before the first.
  const prev = () => (first ? point('before', first, Math.max(here - 1, firstPage)) : { page: lastPage });
  const next = () => (last ? point('after', last, here + 1) : { page: firstPage });
  return {
    first: { page: firstPage },
    prev: hasPrevious ? prev() : undefined,
    next: hasNext ? next() : undefined,
    last: { page: lastPage },
  };
}

/** Bytes for links: of the 3,072 of all headers, what no response can omit takes at most 1,080. */
const linkBytesMax = 1_992;

/** Whether links fit, each with at most 25 bytes around its URL. */
export const linksFit = (urls: readonly string[]): boolean =>
  urls.reduce((bytes, url) => bytes + url.length + 25, 0) <= linkBytesMax;

/**
 * Most characters of the filters in links, if a URL has `others` besides them. Every page of a
 * report has the same: the longest position counts, not that of the page.
 */
export const filtersMax = (links: number, others: number): number => Math.floor(linkBytesMax / links) - 25 - others;

/** Throws `ReportError` if the filters are too long for links to other pages. */
export function requireRoom(filters: string, max: number, remedy: string): void {
  if (filters.length <= max) return;
  throw new ReportError('URI_TOO_LONG', [
    `Cannot link to other pages: the filters and the fields must have at most ${max} characters in a URL, ${remedy}: current value is ${filters.length}`,
  ]);
}

/**
 * Throws `ReportError` if links to other pages would not fit. It depends on the query alone: a
 * report whose first page can be read has no page that cannot.
 */
export function requireLinks({ linkQuery = '' }: ReportQuery, reportUrl: string): void {
  const remedy = `or be in the body of POST ${operations.searchSubscriptions.path}`;
  requireRoom(linkQuery, filtersMax(2, reportUrl.length + longestPosition), remedy);
}

/** Characters of the longest `?size=1000&page=1000000000&cursor=…`, and with ids of 64. */
const [longestPosition, usualPosition] = [450, 192];

/** Whether a report has the `Link` header: all of its pages or none, if ids are not longer. */
const hasLink = (linkQuery: string, reportUrl: string): boolean =>
  linkQuery.length <= filtersMax(3, reportUrl.length + usualPosition);

type PagePointers = ReturnType<typeof pointAround>;

/** Other pages as URLs: the given start, which has the filters and the size, then the position. */
function linkHeaders(pointers: PagePointers, start: string, isLinked: boolean): Record<string, string> {
  const urls = Object.entries(pointers).flatMap(([relation, pointer]: [string, PagePointer | undefined]) => {
    if (pointer === undefined) return [];
    const { page, cursor } = pointer;
    return [[relation, `${start}&page=${page}${cursor === undefined ? '' : `&cursor=${cursor}`}`] as const];
  });
  const { prev, next } = Object.fromEntries(urls);
  const headers = { ...(prev && { 'x-previous-page': prev }), ...(next && { 'x-next-page': next }) };
  const [onlyNext, around] = [urls.filter(([relation]) => relation === 'next'), Object.values(headers)];
  const linked = [urls, onlyNext].find((each) => linksFit([...around, ...each.map(([, url]) => url)])) ?? [];
  if (!isLinked || linked.length === 0) return headers;
  return { ...headers, link: linked.map(([relation, url]) => `<${url}>; rel="${relation}"`).join(', ') };
}

/** Other pages of a query that must not appear in a URL: the members to add to the body. */
function cursorHeaders({ prev, next }: PagePointers): Record<string, string> {
  return {
    ...(next?.cursor !== undefined && { 'x-next-cursor': next.cursor }),
    ...(prev?.cursor !== undefined && { 'x-previous-cursor': prev.cursor }),
  };
}
