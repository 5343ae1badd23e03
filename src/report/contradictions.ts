import { formatDuration } from '../contract/duration.ts';
import type { FormPair } from '../contract/form.ts';
import { compareInstants, formatExactInstant, type Instant } from '../contract/instant.ts';
import type { Fault } from '../contract/problem.ts';
import type { ReportFormat } from '../contract/report-format.ts';
import type { Cursor } from './cursor.ts';
import type { ReportFilters } from './report-query.ts';

/** Where in the report a query asks to begin, and the mark of what it asks for. */
interface Position {
  readonly cursor: Cursor | undefined;
  readonly page: number | undefined;
  readonly mark: string;
}

/**
 * What is wrong with values that are each right on their own. Never about the present moment: what
 * is right today is right tomorrow.
 */
export function findContradictions(filters: ReportFilters, position: Position): Fault[] {
  return [...emptySpans(filters), ...boundTwice(filters), ...strayCursor(position)];
}

/**
 * What keeps `all=true` from being a stream: a position in it, or a form that cannot be streamed.
 */
export function findUnstreamable(pairs: readonly FormPair[], format: ReportFormat | undefined): Fault[] {
  const faults: Fault[] = pairs
    .filter(({ name }) => name === 'size' || name === 'page' || name === 'cursor')
    .map(({ name }) => ({ parameter: name, value: null, rule: 'left out beside all=true, which is the whole report' }));
  if (format === 'json') {
    const rule =
      'used with format=csv or format=ndjson, or with such an Accept header; a JSON array is read page by page';
    faults.push({ parameter: 'all', value: 'true', rule });
  }
  return faults;
}

/** Two bounds of one date that leave nothing between them. */
function emptySpans({ before, after, createdFrom, createdTo, dateField }: ReportFilters): Fault[] {
  const faults: Fault[] = [];
  const requireLater = (later: [string, Instant | undefined], earlier: [string, Instant | undefined]): void => {
    const [[name, end], [otherName, start]] = [later, earlier];
    if (start === undefined || end === undefined || compareInstants(end, start) > 0) return;
    const rule = `later than '${otherName}', which is ${formatExactInstant(start)}: both together mean the time between`;
    faults.push({ parameter: name, value: formatExactInstant(end), rule });
  };
  requireLater(['before', before], ['after', after]);
  requireLater(['created-to', createdTo], ['created-from', createdFrom]);
  if (dateField === 'created') {
    requireLater(['before', before], ['created-from', createdFrom]);
    requireLater(['created-to', createdTo], ['after', after]);
  }
  return faults;
}

/**
 * `expires-within` beside bounds of the same date: whether they leave anything would depend on the
 * day.
 */
function boundTwice({ expiresWithinSeconds, before, after, dateField }: ReportFilters): Fault[] {
  if (expiresWithinSeconds === undefined || dateField !== 'expiration') return [];
  if (before === undefined && after === undefined) return [];
  const rule = 'left out beside before and after of date-field=expiration, which bound the same date';
  return [{ parameter: 'expires-within', value: formatDuration(expiresWithinSeconds), rule }];
}

function strayCursor({ cursor, page, mark }: Position): Fault[] {
  if (cursor === undefined) return [];
  if (cursor.query !== mark) {
    const rule = 'used with the filters, order and size it came from; leave it out to begin a new report';
    return [{ parameter: 'cursor', value: null, rule }];
  }
  if (page === undefined || page === cursor.page) return [];
  const rule = `${cursor.page}, the page of the cursor; leave cursor out to jump to another page`;
  return [{ parameter: 'page', value: String(page), rule }];
}
