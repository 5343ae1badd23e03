import type { ExportQuery, SubscriptionQuery, SubscriptionSort } from '../../../client/index.ts';
import { parseForm } from '../../../contract/form.ts';
import type { ListParameter } from '../../../contract/listed-values.ts';
import { malformedFault, nameFaults } from '../../../contract/parameter-faults.ts';
import type { Fault } from '../../../contract/problem.ts';
import { instantParameters } from '../../../contract/query.ts';
import type { SummaryGroup } from '../../../contract/summary.ts';
import { instantOf, instantOfDay } from '../past/read-as-of.ts';
import { type LinkParameter, linkParameters, valueFault } from './check-value.ts';

/** A parameter that selects records. */
export type FilterName = Exclude<LinkParameter, 'sort' | 'size' | 'page' | 'by' | 'list' | 'as-of' | 'fields' | 'zone'>;

/** Valid values of filters as in a query string. */
export type ReportFilters = { readonly [Name in FilterName]?: string };

/** Values of which a record has any. */
export interface ListedValues {
  readonly name: ListParameter;
  readonly values: readonly string[];
}

/** What a link does not have, and the page remembers for an entry of the history. */
export interface Unlinked {
  /** An address, because links never have it. */
  readonly email?: string | undefined;
  /** A list, because a link has no room for 1,000 values. */
  readonly listed?: ListedValues | undefined;
}

/** What the page shows: the filters, the order and the position. */
export interface ReportState {
  readonly filters: ReportFilters;
  readonly sort: SubscriptionSort;
  /** `undefined` is the first page. */
  readonly page: number | undefined;
  /** Rows per page; `undefined` is the service's own size. */
  readonly size: number | undefined;
  /** The link filters by an address that this page does not know. */
  readonly asksForEmail: boolean;
  readonly listed: ListedValues | undefined;
  /** The link filters by a list of these values, which this page does not know. */
  readonly asksForList: ListParameter | undefined;
  /** The dimension by which the records are counted instead of listed. */
  readonly by: SummaryGroup | undefined;
  /** The past time, as in the link; `undefined` is the present. */
  readonly asOf: string | undefined;
  /** The time zone of days, which all pages have; `undefined` is UTC. */
  readonly zone: string | undefined;
  /** The columns in their order, as in the API; `undefined` is all of them. */
  readonly fields: string | undefined;
  /** The days of the link, such as `last-month`, by the filter whose instant each has become. */
  readonly days: ReportFilters;
}

/** The order of a link without `sort`: newest first. */
export const defaultSort: SubscriptionSort = '-createdDate';

/** The state of a link without parameters. */
export const wholeReport: ReportState = {
  filters: {},
  sort: defaultSort,
  page: undefined,
  size: undefined,
  asksForEmail: false,
  listed: undefined,
  asksForList: undefined,
  by: undefined,
  asOf: undefined,
  fields: undefined,
  zone: undefined,
  days: {},
};

/** The value of `email` in a link, instead of the address. */
const hidden = 'hidden';

/** Whether the link asks for what it does not have. */
export const isIncomplete = ({ asksForEmail, asksForList }: ReportState): boolean =>
  asksForEmail || asksForList !== undefined;

/**
 * Parses the query string of a link, with or without its `?`. A link with any fault has no state:
 * leaving the faulty filter out would show more than the link asks for.
 */
export function parseReportState(
  search: string,
  unlinked: Unlinked = {},
): { readonly state: ReportState } | { readonly faults: readonly Fault[] } {
  const { pairs, malformed } = parseForm(search.replace(/^\?/, ''));
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, linkParameters)];
  const values = new Map<string, string>(pairs.map(({ name, value }) => [name, value]));
  for (const name of linkParameters) {
    const text = values.get(name);
    const fault = text === undefined || name === 'email' ? undefined : valueFault(name, text);
    if (fault !== undefined) faults.push(fault);
  }
  if (values.has('as-of') && values.has('page')) faults.push(noPagesFault);
  const list = values.get('list');
  if (list !== undefined && values.has(list)) faults.push(bothFault(list));
  return faults.length > 0 ? { faults } : { state: stateOf(values, unlinked) };
}

const noPagesFault: Fault = { parameter: 'page', value: null, rule: 'omitted with as-of: the past has no pages' };

const bothFault = (list: string): Fault => ({
  parameter: list,
  value: null,
  rule: `omitted if list is ${list}: a filter has one value or a list`,
});

function stateOf(values: ReadonlyMap<string, string>, { email, listed }: Unlinked): ReportState {
  const {
    sort = defaultSort,
    page,
    size,
    by,
    list,
    fields,
    zone,
    'as-of': asOf,
    ...given
  } = Object.fromEntries(values);
  const isListed = list !== undefined && listed?.name === list;
  const isByEmail = given.email !== undefined;
  delete given.email; // an address that somebody put into a link is not used either
  const { filters, days } = resolveDays(given);
  return {
    days,
    filters: { ...filters, ...(isByEmail && email !== undefined && { email }) },
    sort: sort as SubscriptionSort, // checked above
    page: page === undefined ? undefined : Number(page),
    size: size === undefined ? undefined : Number(size),
    asksForEmail: isByEmail && email === undefined,
    listed: isListed ? listed : undefined,
    asksForList: isListed ? undefined : (list as ListParameter | undefined), // checked above
    by: by as SummaryGroup | undefined,
    asOf,
    fields,
    zone,
  };
}

/** Replaces days and their words by the instants at which they begin. */
function resolveDays(given: ReportFilters): Pick<ReportState, 'filters' | 'days'> {
  const now = new Date();
  const [filters, days]: [Record<string, string>, Record<string, string>] = [{ ...given }, {}];
  for (const [name, text] of Object.entries(given)) {
    const instant = instantParameters.has(name) ? instantOfDay(text, now) : undefined;
    if (instant === undefined) continue;
    filters[name] = instant;
    days[name] = text;
  }
  return { filters, days };
}

/** The query string of the link of a state, without `?`; empty for the whole report. */
export function formatReportState(state: ReportState): string {
  const { filters, sort, page, size, asksForEmail, listed, asksForList, by, asOf, fields, zone, days } = state;
  const values: { readonly [Name in LinkParameter]?: string | number | undefined } = {
    ...filters,
    ...days,
    email: asksForEmail || filters.email !== undefined ? hidden : undefined,
    sort: sort === defaultSort ? undefined : sort,
    size,
    page,
    by,
    list: listed?.name ?? asksForList,
    'as-of': asOf,
    fields,
    zone,
  };
  return linkParameters
    .flatMap((name) =>
      values[name] === undefined ? [] : [`${name}=${name === 'zone' ? values[name] : encode(String(values[name]))}`],
    )
    .join('&');
}

/** Percent-encodes a value, except for commas and colons, which links may have. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':');

/** The filters and the order for the client library. */
function recordsQueryOf({ filters, sort, listed }: ReportState): ExportQuery {
  // the values are those of a query string
  return { ...(filters as ExportQuery), ...(listed && { [listed.name]: listed.values }), sort };
}

/** The query of whole records, also of the past. */
export function pastQueryOf(state: ReportState): ExportQuery {
  const asOf = instantOf(state.asOf);
  return { ...recordsQueryOf(state), ...(asOf !== undefined && { 'as-of': asOf }) };
}

/** The query of an export. */
export function exportQueryOf(state: ReportState): ExportQuery {
  const { fields } = state;
  // checked when the link was read
  const chosen = fields?.split(',') as (ExportQuery['fields'] & object) | undefined;
  return { ...pastQueryOf(state), ...(chosen && { fields: chosen }) };
}

/** The query of a page of the present. */
export function queryOf(state: ReportState): SubscriptionQuery {
  return { ...recordsQueryOf(state), size: state.size, page: state.page };
}

/** Filters that are set, or removed where they are `undefined`. */
export type FilterChanges = { readonly [Name in FilterName]?: string | undefined } & {
  readonly listed?: ListedValues | undefined;
};

/** The state with other filters, from the first page. A filter has one value or a list. */
export function withFilters(state: ReportState, changes: FilterChanges): ReportState {
  const { listed, ...changed } = changes;
  const isReplaced = (list: ListParameter | undefined): boolean =>
    'listed' in changes || (list !== undefined && changed[list] !== undefined);
  const filters = { ...state.filters, ...state.days, ...changed, ...(listed && { [listed.name]: undefined }) };
  return {
    ...state,
    ...resolveDays(Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))),
    page: undefined,
    asksForEmail: state.asksForEmail && !('email' in changed),
    listed: isReplaced(state.listed?.name) ? listed : state.listed,
    asksForList: isReplaced(state.asksForList) ? undefined : state.asksForList,
  };
}
