import { formatDuration } from '../../contract/duration.ts';
import type { FormPair } from '../../contract/form.ts';
import { compareInstants, formatExactInstant, type Instant } from '../../contract/instant.ts';
import type { Fault } from '../../contract/problem.ts';
import type { ReportFormat } from '../../contract/report.ts';
import type { Zone } from '../../contract/zone.ts';
import type { Cursor } from './cursor.ts';
import type { ReportFilters } from './filters.ts';

/** The requested position in the report, and the fingerprint of the query. */
interface Position {
  readonly cursor: Cursor | undefined;
  readonly page: number | undefined;
  readonly fingerprint: string;
}

/**
 * Finds values that are valid alone but not together. Does not depend on the current time: a query
 * that is valid today stays valid.
 */
export function findContradictions(filters: ReportFilters, position: Position): Fault[] {
  return [...findFilterContradictions(filters), ...strayCursor(position)];
}

/** As `findContradictions`, for a query without a position in the report. */
export function findFilterContradictions(filters: ReportFilters): Fault[] {
  return [...emptyRanges(filters), ...boundTwice(filters)];
}

/** Finds what `all=true` cannot be combined with: a position, or a format that is not streamed. */
export function findUnstreamable(pairs: readonly FormPair[], format: ReportFormat | undefined): Fault[] {
  const faults: Fault[] = pairs
    .filter(({ name }) => name === 'size' || name === 'page' || name === 'cursor')
    .map(({ name }) => ({
      parameter: name,
      value: null,
      rule: "absent with 'all=true', which returns the whole report",
    }));
  if (format === 'json') {
    const rule =
      "used with 'format=csv', ndjson or parquet, or with such an Accept header; read a JSON array page by page";
    faults.push({ parameter: 'all', value: 'true', rule });
  }
  return faults;
}

/** Finds a format that only a whole report has. */
export function findUnpaged(format: ReportFormat | undefined): Fault[] {
  if (format !== 'parquet') return [];
  return [{ parameter: 'format', value: format, rule: "used with 'all=true': a Parquet file is a whole report" }];
}

/**
 * Finds what `as-of` cannot be combined with: pages, which need counts of the past, and a duration
 * from now.
 */
export function findUnreadablePast(pairs: readonly FormPair[], isWhole: boolean): Fault[] {
  const rule = "used with 'all=true' and 'format=csv', ndjson or parquet: the past has no pages";
  const asOf = pairs.find(({ name }) => name === 'as-of')?.value ?? null;
  const within = pairs.find(({ name }) => name === 'expires-within')?.value;
  const other = "absent with 'as-of', as it counts from now; use 'before' and 'after' with 'date-field=expiration'";
  return [
    ...(isWhole ? [] : [{ parameter: 'as-of', value: asOf, rule }]),
    ...(within === undefined ? [] : [{ parameter: 'expires-within', value: within, rule: other }]),
  ];
}

/** Finds what local dates lack: their zone, or the format that has them. */
export function findUnzonedDates(zone: Zone | undefined, format: ReportFormat | undefined): Fault[] {
  const rules = [
    ...(zone === undefined ? ["used with 'zone', such as zone=Europe/Berlin"] : []),
    ...(format === undefined || format === 'csv' ? [] : ["used with 'format=csv': other formats have dates in UTC"]),
  ];
  return rules.map((rule) => ({ parameter: 'dates', value: 'local', rule }));
}

function emptyRanges({ before, after, createdFrom, createdTo, dateField }: ReportFilters): Fault[] {
  const ranges: readonly (readonly [string, Instant | undefined, string, Instant | undefined])[] = [
    ['before', before, 'after', after],
    ['created-to', createdTo, 'created-from', createdFrom],
    ...(dateField === 'created'
      ? ([
          ['before', before, 'created-from', createdFrom],
          ['created-to', createdTo, 'after', after],
        ] as const)
      : []),
  ];
  return ranges.flatMap(([parameter, end, otherName, start]) => {
    if (start === undefined || end === undefined || compareInstants(end, start) > 0) return [];
    const rule = `later than '${otherName}', which is ${formatExactInstant(start)}: together they select the time in between`;
    return [{ parameter, value: formatExactInstant(end), rule }];
  });
}

/**
 * Rejects `expires-within` together with bounds of the same date: whether the range is empty would
 * depend on the current day.
 */
function boundTwice({ expiresWithinSeconds, before, after, dateField }: ReportFilters): Fault[] {
  if (expiresWithinSeconds === undefined || dateField !== 'expiration') return [];
  if (before === undefined && after === undefined) return [];
  const rule = "absent if 'before' or 'after' is used with 'date-field=expiration', which limits the same date";
  return [{ parameter: 'expires-within', value: formatDuration(expiresWithinSeconds), rule }];
}

function strayCursor({ cursor, page, fingerprint }: Position): Fault[] {
  if (cursor === undefined) return [];
  if (cursor.query !== fingerprint) {
    const rule = 'used with the filters, order and size that it came from; omit it to start a new report';
    return [{ parameter: 'cursor', value: null, rule }];
  }
  if (page === undefined || page === cursor.page) return [];
  const rule = `${cursor.page}, the page of the cursor; omit 'cursor' to jump to another page`;
  return [{ parameter: 'page', value: String(page), rule }];
}
