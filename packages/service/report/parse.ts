import { takeFields } from '../../contract/fields.ts';
import type { FormPair } from '../../contract/form.ts';
import { reportParameters, sortValues } from '../../contract/query.ts';
import { formatWords, type ReportFormat, reportFormats } from '../../contract/report.ts';
import { readWholeNumber } from '../../contract/schema.ts';
import {
  findContradictions,
  findUnpaged,
  findUnreadablePast,
  findUnstreamable,
  findUnzonedDates,
} from './contradictions.ts';
import { decodeCursor, fingerprintOf } from './cursor.ts';
import { ReportError, refuse } from './error.ts';
import { canonicalFilters, memberOf, readFilters } from './filters.ts';
import { parseMoment } from './moment.ts';
import { createParameterReader, partsOf, type QueryParts } from './read-parameters.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

/**
 * Parses the query string of a report (`spec.md` "Query parameters"), without its `?`. `accepted`
 * is the format that the `Accept` header allows, used unless the query names one. Throws
 * `ReportError` with every fault at once: malformed parts, unknown and repeated names, and invalid
 * values.
 */
export function parseReport(
  queryString: string,
  context: QueryContext,
  accepted: ReportFormat | undefined,
): ReportQuery {
  const parts = partsOf(queryString, Object.keys(reportParameters(context.limits)));
  return readQuery({ ...parts, linkable: true }, context, accepted);
}

/** Rejects every query parameter; `leftOut` is the rule if there is a reason. */
export function parseNoParameters(queryString: string, leftOut?: string): void {
  const { faults, unreadable } = partsOf(queryString, [], leftOut);
  refuse(faults, unreadable);
}

type ReportParts = QueryParts & Required<Pick<QueryParts, 'linkable'>>;

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
  const reader = createParameterReader(parts, schemas);
  const { read, faults } = reader;
  const filters = readFilters(reader);
  const sort = read('sort', (text) => memberOf(sortValues, text)) ?? 'createdDate';
  const size = read('size', (text) => readWholeNumber(schemas.size, text)) ?? limits.sizeDefault;
  const page = read('page', (text) => readWholeNumber(schemas.page, text));
  const cursor = read('cursor', decodeCursor);
  const format = read('format', (text) => memberOf(formatWords, text)) ?? accepted;
  const fields = takeFields(pairs, faults);
  const isLocal = read('dates', (text) => memberOf(['utc', 'local'], text)) === 'local';
  const all = read('all', (text) => memberOf(['true', 'false'], text)) === 'true';
  const asOf = read('as-of', (text) => parseMoment(text, now(), reader.zone));
  const canonical = canonicalFilters(filters, sort);
  const fingerprint = fingerprintOf(JSON.stringify([size, canonical]));
  if (faults.length === 0) faults.push(...findContradictions(filters, { cursor, page, fingerprint }));
  if (faults.length === 0) faults.push(...(all ? findUnstreamable(pairs, format) : findUnpaged(format)));
  if (faults.length === 0 && asOf !== undefined) faults.push(...findUnreadablePast(pairs, all));
  if (faults.length === 0 && isLocal) faults.push(...findUnzonedDates(reader.zone, format));
  refuse(faults, reader.isUnreadable());
  if (format === undefined) throw noFormatFits();
  return {
    ...filters,
    sort,
    size,
    page: cursor?.page ?? page ?? limits.firstPage,
    ...(cursor && { cursor }),
    format,
    ...(fields && { fields }),
    ...(isLocal && { datesIn: reader.zone }),
    all,
    ...(asOf !== undefined && { asOf }),
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
