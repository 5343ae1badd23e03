import {
  type ChangedField,
  type ChangeOrder,
  changedFields,
  changeOrders,
  changeParameters,
  sinceNow,
} from '../../contract/change.ts';
import { changesSummaryParameters } from '../../contract/changes-summary.ts';
import { takeFields } from '../../contract/fields.ts';
import { type ChangeKind, changeKinds } from '../../contract/history.ts';
import { type Fault, shorten } from '../../contract/problem.ts';
import { type ReportFormat, reportFormats } from '../../contract/report.ts';
import { readWholeNumber, ruleOf } from '../../contract/schema.ts';
import type { Zone } from '../../contract/zone.ts';
import type { Moment } from '../storage/read/past.ts';
import { type ChangeToken, decodeChangeToken } from './change-token.ts';
import { ReportError, refuse } from './error.ts';
import { memberOf } from './filters.ts';
import { parseMoment } from './moment.ts';
import { createParameterReader, partsOf } from './read-parameters.ts';
import type { QueryContext, ReportQuery } from './report-query.ts';

/**
 * Parses the query string of the changes, without its `?`. Throws `ReportError` with every fault at
 * once, or `UNACCEPTABLE` if `accepted` is `undefined`. Whether the token belongs to the tenant and
 * its store is checked when the changes are read.
 */
export function parseChanges(
  queryString: string,
  { limits, now }: QueryContext,
  accepted: ChangeFormat | undefined,
): ChangesQuery {
  const schemas = changeParameters(limits);
  const parts = partsOf(queryString, Object.keys(schemas));
  const { read, readText, faults, zone, isUnreadable } = createParameterReader(parts, schemas);
  const since = read('since', (text) => (text === sinceNow ? sinceNow : readStart(text, now(), zone)));
  const before = read('before', (text) => memberOf(['true', 'false'], text)) === 'true';
  const kinds = read('kind', readKinds);
  const order = read('order', (text) => memberOf(changeOrders, text));
  const field = read('field', (text) => memberOf(changedFields, text));
  const [from, to, importId] = [readText('from'), readText('to'), readText('import-id')];
  const size = read('size', (text) => readWholeNumber(schemas.size, text)) ?? limits.sizeDefault;
  const fields = takeFields(parts.pairs, faults);
  faults.push(...filterFaults({ field, from, to, kinds }));
  if (isWalk(since) && order === 'oldest')
    faults.push({ parameter: 'order', value: order, rule: "newest, or absent: the token in 'since' is of that order" });
  refuse(faults, isUnreadable());
  if (accepted === undefined) throw noFormFits();
  const filters = { kinds, field, from, to, importId, fields };
  const isNewest = order === 'newest' || isWalk(since);
  return { ...(since && { since }), before, order: isNewest ? 'newest' : 'oldest', ...filters, size, format: accepted };
}

const isWalk = (since: ChangesQuery['since']): boolean =>
  typeof since === 'object' && 'key' in since && since.newest !== undefined;

/** A value belongs to a field that has values, and a field to changed records. */
function filterFaults({ field, from, to, kinds }: ChangeFilters): readonly Fault[] {
  const values = Object.entries({ from, to }).filter(([, value]) => value !== undefined);
  const valueFields = changedFields.filter((each) => each !== 'renewal');
  return [
    ...values
      .filter(() => field === undefined || field === 'renewal')
      .map(([parameter, value]) => ({
        parameter,
        value: shorten(String(value)),
        rule: `absent without 'field', which must be one of ${valueFields.join(', ')}`,
      })),
    ...(field !== undefined && kinds !== undefined && !(kinds.length === 1 && kinds[0] === 'changed')
      ? [{ parameter: 'kind', value: kinds.join(','), rule: "changed, or absent: 'field' selects changed records" }]
      : []),
  ];
}

/**
 * Parses the query string of the summary of changes, without its `?`. Throws `ReportError` with
 * every fault at once.
 */
export function parseChangesSummary(queryString: string, { now }: Pick<QueryContext, 'now'>): ChangesSummaryQuery {
  const parts = partsOf(queryString, Object.keys(changesSummaryParameters));
  const { read, faults, zone, isUnreadable } = createParameterReader(parts, changesSummaryParameters);
  const ofChanges = (text: string) => {
    const start = readStart(text, now(), zone);
    return isWalk(start) ? undefined : start;
  };
  const since = read('since', ofChanges);
  const until = read('until', (text) => parseMoment(text, now(), zone));
  if (!parts.pairs.some(({ name }) => name === 'since'))
    faults.push({ parameter: 'since', value: null, rule: ruleOf(changesSummaryParameters.since) });
  refuse(faults, isUnreadable());
  if (since === undefined) throw new TypeError('Cannot parse the query: since must be given');
  return { since, ...(until && { until }), ...(zone && { zone: zone.name }) };
}

/** The start of a period: a change token, or an instant. */
const readStart = (text: string, nowSeconds: number, zone: Zone | undefined) =>
  decodeChangeToken(text) ?? readInstant(text, nowSeconds, zone);

/** An instant of the past; a revision would be a token that lost its other parts. */
function readInstant(
  text: string,
  nowSeconds: number,
  zone: Zone | undefined,
): { readonly seconds: number } | undefined {
  const moment = parseMoment(text, nowSeconds, zone);
  return moment !== undefined && 'seconds' in moment ? moment : undefined;
}

/** The kinds that a list names, in the order of the contract. */
function readKinds(text: string): readonly ChangeKind[] | undefined {
  const words = text.split(',');
  const kinds = changeKinds.filter((kind) => words.includes(kind));
  return kinds.length === words.length ? kinds : undefined;
}

const noFormFits = (): ReportError =>
  new ReportError('UNACCEPTABLE', [
    `Cannot respond in the requested format: the header 'accept' must allow ${changeFormats.map((word) => reportFormats[word].mediaType).join(' or ')}`,
  ]);

/** The formats of the changes: those that can contain the following token. */
export const changeFormats = ['json', 'ndjson'] as const satisfies readonly ReportFormat[];
export type ChangeFormat = (typeof changeFormats)[number];

/** Which changes are selected; `none` as a status or an import is the absence of one. */
interface ChangeFilters {
  /** Only changes of these kinds. */
  readonly kinds?: readonly ChangeKind[] | undefined;
  /** Only changed records whose value of this field differs, and the values. */
  readonly field?: ChangedField | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly importId?: string | undefined;
}

/** A validated query of the summary of changes. */
export interface ChangesSummaryQuery {
  readonly since: ChangeToken | { readonly seconds: number };
  readonly until?: Moment;
  /** The name of the zone of the days; UTC if absent. */
  readonly zone?: string;
}

/** A validated query of changes; whether the token belongs to the store is checked later. */
export interface ChangesQuery extends ChangeFilters {
  /** Absent to read from the beginning. */
  readonly since?: ChangeToken | typeof sinceNow | { readonly seconds: number };
  /** Whether each change has its kind, time and import, and the record as it was. */
  readonly before: boolean;
  readonly order: ChangeOrder;
  readonly fields?: ReportQuery['fields'];
  readonly size: number;
  readonly format: ChangeFormat;
}
