import type { FormPair } from '../contract/form.ts';
import { reportParameters, sortValues } from '../contract/query.ts';
import { formatWords, type ReportFormat, reportFormats } from '../contract/report-format.ts';
import { readWholeNumber } from '../contract/schema.ts';
import { canonicalFilters } from './applied-filters.ts';
import { findContradictions, findUnstreamable } from './contradictions.ts';
import { decodeCursor, fingerprintOf } from './cursor.ts';
import { ReportError } from './error.ts';
import { createParameterReader, memberOf, type QueryParts, readFilters } from './read-filters.ts';
import { refuse } from './refuse.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

interface ReportParts extends QueryParts {
  /** Whether the parameters came in a URL and may appear in a link. */
  readonly linkable: boolean;
}

/**
 * Reads each parameter and checks them against each other. `accepted` is the format that the
 * `Accept` header allows, if any. Throws `ReportError` with every fault at once, including those
 * found before, or `UNACCEPTABLE` if neither the query nor the header names a format.
 */
export function readQuery(
  parts: ReportParts,
  { limits, now }: QueryContext,
  accepted: ReportFormat | undefined,
): ReportQuery {
  const { pairs, linkable } = parts;
  const schemas = reportParameters(limits);
  const reader = createParameterReader(parts, limits);
  const { read, faults } = reader;
  const filters = {
    ...readFilters(reader),
    sort: read('sort', (text) => memberOf(sortValues, text)) ?? 'createdDate',
  };
  const size = read('size', (text) => readWholeNumber(schemas.size, text)) ?? limits.sizeDefault;
  const page = read('page', (text) => readWholeNumber(schemas.page, text));
  const cursor = read('cursor', decodeCursor);
  const format = read('format', (text) => memberOf(formatWords, text)) ?? accepted;
  const all = read('all', (text) => memberOf(['true', 'false'], text)) === 'true';
  const canonical = canonicalFilters(filters);
  const fingerprint = fingerprintOf(JSON.stringify([size, canonical]));
  if (faults.length === 0) faults.push(...findContradictions(filters, { cursor, page, fingerprint }));
  if (faults.length === 0 && all) faults.push(...findUnstreamable(pairs, format));
  refuse(faults, reader.isUnreadable());
  if (format === undefined) throw noFormatFits();
  return {
    ...filters,
    size,
    page: cursor?.page ?? page ?? limits.firstPage,
    ...(cursor && { cursor }),
    format,
    all,
    nowSeconds: cursor?.nowSeconds ?? now(),
    ...(linkable && { linkQuery: encodeFilters(pairs) }),
    canonical,
    fingerprint,
  };
}

/** The filters and the order as the start of a query string; their names need no encoding. */
function encodeFilters(pairs: readonly FormPair[]): string {
  let text = '';
  for (const { name, value } of pairs)
    if (!positionParameters.has(name)) text += `${name}=${encodeURIComponent(value)}&`;
  return text;
}

const positionParameters: ReadonlySet<string> = new Set(['size', 'page', 'cursor', 'all']);

const noFormatFits = (): ReportError =>
  new ReportError('UNACCEPTABLE', [
    `Cannot respond in the requested format: the header 'accept' must allow ${formatWords.map((word) => reportFormats[word].mediaType).join(', ')}, or format must be one of their names`,
  ]);
