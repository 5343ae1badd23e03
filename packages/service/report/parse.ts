import { takeFields } from '../../contract/fields.ts';
import { type FormPair, parseForm } from '../../contract/form.ts';
import type { ListParameter } from '../../contract/listed-values.ts';
import { malformedFault, nameFaults } from '../../contract/parameter-faults.ts';
import { type Fault, shorten } from '../../contract/problem.ts';
import { instantParameters, type ReportParameter, reportParameters, sortValues } from '../../contract/query.ts';
import { formatWords, type PageLimits, type ReportFormat, reportFormats } from '../../contract/report.ts';
import { fitsText, readWholeNumber, ruleOf } from '../../contract/schema.ts';
import { takeZone } from '../../contract/zone.ts';
import {
  findContradictions,
  findUnpaged,
  findUnreadablePast,
  findUnstreamable,
  findUnzonedDates,
} from './contradictions.ts';
import { decodeCursor, fingerprintOf } from './cursor.ts';
import { ReportError, refuse } from './error.ts';
import { canonicalFilters, memberOf, type ParameterReader, readFilters } from './filters.ts';
import { parseMoment } from './moment.ts';
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
  const { pairs, malformed } = parseForm(queryString);
  const faults = [
    ...malformed.map(malformedFault),
    ...nameFaults(pairs, Object.keys(reportParameters(context.limits))),
  ];
  return readQuery({ pairs, faults, unreadable: malformed.length > 0, linkable: true }, context, accepted);
}

/** Rejects every query parameter; `leftOut` is the rule if there is a reason. */
export function parseNoParameters(queryString: string, leftOut?: string): void {
  const { pairs, malformed } = parseForm(queryString);
  refuse([...malformed.map(malformedFault), ...nameFaults(pairs, [], leftOut)], malformed.length > 0);
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
  const reader = createParameterReader(parts, limits);
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

/** The parameters of a request as strings, from a URL or a body, and the faults found so far. */
interface QueryParts {
  readonly pairs: readonly FormPair[];
  /** The parameters that are lists, only from a body; their values fit the schema. */
  readonly lists?: ReadonlyMap<ListParameter, readonly string[]>;
  readonly faults: readonly Fault[];
  /** Whether a part could not be decoded. */
  readonly unreadable: boolean;
  /** Whether the parameters came in a URL, which is the default, and may appear in a link. */
  readonly linkable?: boolean;
}

interface RequestReader extends ParameterReader {
  /** The faults found so far. */
  readonly faults: Fault[];
  /** Whether a part, or a date, could not be decoded. */
  isUnreadable(): boolean;
}

/** Creates a reader that adds to the faults found so far. */
export function createParameterReader(parts: QueryParts, limits: PageLimits): RequestReader {
  const schemas = reportParameters(limits);
  const faults = [...parts.faults];
  const zone = takeZone(parts.pairs, faults);
  let { unreadable } = parts;
  const read: ParameterReader['read'] = (name, parse) => {
    const text = parts.pairs.find((pair) => pair.name === name)?.value;
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value !== undefined) return value;
    if (instantParameters.has(name)) unreadable = true;
    // a plus of a URL arrives as a space
    const hint = name === 'email' && parts.linkable !== false && text.includes(' ') ? '; in a URL, write + as %2B' : '';
    faults.push({ parameter: name, value: shownValue(name, text), rule: ruleOf(schemas[name]) + hint });
    return undefined;
  };
  return {
    read,
    readList: (name) => parts.lists?.get(name),
    readText: (name, normalise = (text) => text) =>
      read(name, (text) => (fitsText(schemas[name], normalise(text)) ? normalise(text) : undefined)),
    zone,
    faults,
    isUnreadable: () => unreadable,
  };
}

/** A value as an error may show it: shortened, and never an email address. */
const shownValue = (name: ReportParameter, text: string): string | null => (name === 'email' ? null : shorten(text));
