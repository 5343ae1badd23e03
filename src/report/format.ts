import type { FormPair } from '../contract/form.ts';
import type { PageLimits } from '../contract/page-limits.ts';
import type { OrderKey } from '../storage/order-key.ts';
import { describeFilters } from './applied-filters.ts';
import { type Cursor, encodeCursor } from './cursor.ts';
import type { ReportQuery } from './report-query.ts';
import type { ReportPage } from './run.ts';
import { describeFormat, writePage } from './write-records.ts';

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

type Relation = 'first' | 'prev' | 'next' | 'last';

/**
 * Formats a page: the stored JSON of the records, and the paging headers
 * (`docs/decisions/paging-headers.md`).
 */
export function formatReport(
  query: ReportQuery,
  page: ReportPage,
  reportUrl: string,
  limits: PageLimits,
): FormattedReport<Buffer> {
  const pages = Math.ceil(page.total / query.size);
  const pointers = pointAround(query, page, limits.firstPage, limits.firstPage + Math.max(pages, 1) - 1);
  const { filters } = query;
  return {
    body: writePage(query.format, page.records),
    headers: {
      ...describeFormat(query.format),
      ...(filters === undefined ? cursorHeaders(pointers) : linkHeaders(pointers, reportUrl, filters, query.size)),
      'x-total-count': String(page.total),
      'x-total-pages': String(pages),
      'x-current-page': String(query.page),
      'x-count-per-page': String(query.size),
      'x-applied-filters': describeFilters(query),
    },
  };
}

/** The previous and the following page, if they exist. */
function pointAround(
  query: ReportQuery,
  { records, hasNext, hasPrevious }: ReportPage,
  firstPage: number,
  lastPage: number,
): Partial<Record<Relation, PagePointer>> {
  const { first, last } = records;
  const previousPage = Math.max(query.page - 1, firstPage);
  return {
    first: { page: firstPage },
    // A page without records is past the last record, or before the first.
    ...(hasPrevious && {
      prev: first === undefined ? { page: lastPage } : pointFrom(query, 'before', first, previousPage),
    }),
    ...(hasNext && {
      next: last === undefined ? { page: firstPage } : pointFrom(query, 'after', last, query.page + 1),
    }),
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

/** Other pages as URLs: the given filters, then the position. */
function linkHeaders(
  pointers: Partial<Record<Relation, PagePointer>>,
  reportUrl: string,
  filters: readonly FormPair[],
  size: number,
): Record<string, string> {
  const repeated = filters.map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const urlOf = ({ page, cursor }: PagePointer): string => {
    const position = [`size=${size}`, `page=${page}`, ...(cursor === undefined ? [] : [`cursor=${cursor}`])];
    return `${reportUrl}?${[...repeated, ...position].join('&')}`;
  };
  const { prev, next } = pointers;
  return {
    ...(next && { 'x-next-page': urlOf(next) }),
    ...(prev && { 'x-previous-page': urlOf(prev) }),
    link: Object.entries(pointers)
      .map(([relation, pointer]) => `<${urlOf(pointer)}>; rel="${relation}"`)
      .join(', '),
  };
}

/** Other pages of a query that must not appear in a URL: the members to add to the body. */
function cursorHeaders({ prev, next }: Partial<Record<Relation, PagePointer>>): Record<string, string> {
  return {
    ...(next?.cursor !== undefined && { 'x-next-cursor': next.cursor }),
    ...(prev?.cursor !== undefined && { 'x-previous-cursor': prev.cursor }),
  };
}
