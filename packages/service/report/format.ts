import type { PageLimits } from '../../contract/report.ts';
import type { OrderKey } from '../storage/order-key.ts';
import { type Cursor, encodeCursor } from './cursor.ts';
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

/** The pages around a page, by the relations of the `Link` header. */
interface PagePointers {
  readonly first: PagePointer;
  readonly prev?: PagePointer | undefined;
  readonly next?: PagePointer | undefined;
  readonly last: PagePointer;
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
        : linkHeaders(pointers, `${reportUrl}?${linkQuery}size=${query.size}`)),
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

/** The previous and the following page, if they exist. */
function pointAround(
  query: ReportQuery,
  { records, hasNext, hasPrevious }: ReportPage,
  firstPage: number,
  lastPage: number,
): PagePointers {
  const { first, last } = records;
  const previousPage = Math.max(query.page - 1, firstPage);
  // A page without records is past the last record, or before the first.
  const prev = () => (first ? pointFrom(query, 'before', first, previousPage) : { page: lastPage });
  const next = () => (last ? pointFrom(query, 'after', last, query.page + 1) : { page: firstPage });
  return {
    first: { page: firstPage },
    prev: hasPrevious ? prev() : undefined,
    next: hasNext ? next() : undefined,
    last: { page: lastPage },
  };
}

function pointFrom(
  { fingerprint, expiresWithinSeconds, nowSeconds }: ReportQuery,
  direction: Cursor['direction'],
  { date, id }: OrderKey,
  page: number,
): PagePointer {
  const key = { date, id };
  const moment = expiresWithinSeconds === undefined ? {} : { nowSeconds };
  return { page, cursor: encodeCursor({ direction, key, page, query: fingerprint, ...moment }) };
}

/** Other pages as URLs: the given start, which has the filters and the size, then the position. */
function linkHeaders({ first, prev, next, last }: PagePointers, start: string): Record<string, string> {
  const urlOf = ({ page, cursor }: PagePointer): string =>
    `${start}&page=${page}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
  const headers: Record<string, string> = {};
  let link = `<${urlOf(first)}>; rel="first"`;
  if (prev !== undefined) {
    headers['x-previous-page'] = urlOf(prev);
    link += `, <${headers['x-previous-page']}>; rel="prev"`;
  }
  if (next !== undefined) {
    headers['x-next-page'] = urlOf(next);
    link += `, <${headers['x-next-page']}>; rel="next"`;
  }
  headers.link = `${link}, <${urlOf(last)}>; rel="last"`;
  return headers;
}

/** Other pages of a query that must not appear in a URL: the members to add to the body. */
function cursorHeaders({ prev, next }: PagePointers): Record<string, string> {
  return {
    ...(next?.cursor !== undefined && { 'x-next-cursor': next.cursor }),
    ...(prev?.cursor !== undefined && { 'x-previous-cursor': prev.cursor }),
  };
}
