import type { PageLimits } from '../contract/query.ts';
import { encodeCursor } from './cursor.ts';
import type { ReportQuery } from './parse.ts';
import type { ReportPage } from './run.ts';

/** A finished report page: the body, and the headers that describe it. */
export interface FormattedReport {
  /** A JSON array of records (`spec.md` "Response"). */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes a page as it goes on the wire: the records' finished texts, and the paging headers (`docs/decisions/paging-headers.md`). */
export function formatReport(
  query: ReportQuery,
  page: ReportPage,
  reportUrl: string,
  limits: PageLimits,
): FormattedReport {
  const pages = Math.ceil(page.total / query.size);
  const lastPage = limits.firstPage + Math.max(pages, 1) - 1;
  const links = {
    first: pageUrl(reportUrl, query, limits.firstPage),
    prev: page.hasPrevious ? previousUrl(query, page, reportUrl, limits.firstPage, lastPage) : undefined,
    next: page.hasNext ? nextUrl(query, page, reportUrl, limits.firstPage) : undefined,
    last: pageUrl(reportUrl, query, lastPage),
  };
  return {
    body: `[${page.records.map(({ record }) => record).join(',')}]`,
    headers: {
      ...(links.next !== undefined && { 'x-next-page': links.next }),
      ...(links.prev !== undefined && { 'x-previous-page': links.prev }),
      link: Object.entries(links)
        .filter(([, url]) => url !== undefined)
        .map(([relation, url]) => `<${url}>; rel="${relation}"`)
        .join(', '),
      'x-total-count': String(page.total),
      'x-total-pages': String(pages),
      'x-current-page': String(query.page),
      'x-count-per-page': String(query.size),
    },
  };
}

function nextUrl(query: ReportQuery, { records }: ReportPage, reportUrl: string, firstPage: number): string {
  const last = records.at(-1);
  if (last === undefined) return pageUrl(reportUrl, query, firstPage); // an empty page before all others
  const page = query.page + 1;
  return pageUrl(
    reportUrl,
    query,
    page,
    encodeCursor({ direction: 'after', key: keyOf(last), page, query: query.mark }),
  );
}

function previousUrl(
  query: ReportQuery,
  { records }: ReportPage,
  reportUrl: string,
  firstPage: number,
  lastPage: number,
): string {
  const [first] = records;
  if (first === undefined) return pageUrl(reportUrl, query, lastPage); // an empty page past all others
  const page = Math.max(query.page - 1, firstPage);
  return pageUrl(
    reportUrl,
    query,
    page,
    encodeCursor({ direction: 'before', key: keyOf(first), page, query: query.mark }),
  );
}

const keyOf = ({ date, id }: { date: number; id: string }) => ({ date, id });

/** The URL of another page of the same report: the filters as they came, then the position. */
function pageUrl(reportUrl: string, query: ReportQuery, page: number, cursor?: string): string {
  const parts = query.filters.map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  parts.push(`size=${query.size}`, `page=${page}`);
  if (cursor !== undefined) parts.push(`cursor=${cursor}`);
  return `${reportUrl}?${parts.join('&')}`;
}
