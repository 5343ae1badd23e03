import type { ExportQuery, SubscriptionQuery, SubscriptionSort } from '../../../client/index.ts';
import { parseForm } from '../../../contract/form.ts';
import { malformedFault, nameFaults } from '../../../contract/parameter-faults.ts';
import type { Fault } from '../../../contract/problem.ts';
import type { SummaryGroup } from '../../../contract/summary.ts';
import { type LinkParameter, linkParameters, valueFault } from './check-value.ts';

/** A parameter that selects records. */
export type FilterName = Exclude<LinkParameter, 'sort' | 'size' | 'page' | 'by'>;

/** Valid values of filters as in a query string. */
export type ReportFilters = { readonly [Name in FilterName]?: string };

/** What the page shows: the filters, the order and the position. */
export interface ReportState {
  readonly filters: ReportFilters;
  readonly sort: SubscriptionSort;
  /** `undefined` is the first page. */
  readonly page: number | undefined;
  /** Rows per page; `undefined` is the service's own size. */
  readonly size: number | undefined;
  /** The link filters by an address that this page does not know, because links never have it. */
  readonly asksForEmail: boolean;
  /** The dimension by which the records are counted instead of listed. */
  readonly by: SummaryGroup | undefined;
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
  by: undefined,
};

/** The value of `email` in a link, instead of the address. */
const hidden = 'hidden';

/**
 * Parses the query string of a link, with or without its `?`. `email` is the address that this page
 * remembers for the history entry. A link with any fault has no state: leaving the faulty filter
 * out would show more than the link asks for.
 */
export function parseReportState(
  search: string,
  email?: string,
): { readonly state: ReportState } | { readonly faults: readonly Fault[] } {
  const { pairs, malformed } = parseForm(search.replace(/^\?/, ''));
  const faults = [...malformed.map(malformedFault), ...nameFaults(pairs, linkParameters)];
  const values = new Map<string, string>(pairs.map(({ name, value }) => [name, value]));
  for (const name of linkParameters) {
    const text = values.get(name);
    const fault = text === undefined || name === 'email' ? undefined : valueFault(name, text);
    if (fault !== undefined) faults.push(fault);
  }
  return faults.length > 0 ? { faults } : { state: stateOf(values, email) };
}

function stateOf(values: ReadonlyMap<string, string>, email: string | undefined): ReportState {
  const { sort = defaultSort, page, size, by, ...filters } = Object.fromEntries(values);
  const isByEmail = filters.email !== undefined;
  delete filters.email; // an address that somebody put into a link is not used either
  return {
    filters: { ...filters, ...(isByEmail && email !== undefined && { email }) },
    sort: sort as SubscriptionSort, // checked above
    page: page === undefined ? undefined : Number(page),
    size: size === undefined ? undefined : Number(size),
    asksForEmail: isByEmail && email === undefined,
    by: by as SummaryGroup | undefined,
  };
}

/** The query string of the link of a state, without `?`; empty for the whole report. */
export function formatReportState({ filters, sort, page, size, asksForEmail, by }: ReportState): string {
  const values: { readonly [Name in LinkParameter]?: string | number | undefined } = {
    ...filters,
    email: asksForEmail || filters.email !== undefined ? hidden : undefined,
    sort: sort === defaultSort ? undefined : sort,
    size,
    page,
    by,
  };
  return linkParameters
    .flatMap((name) => (values[name] === undefined ? [] : [`${name}=${encode(String(values[name]))}`]))
    .join('&');
}

/** Percent-encodes a value, except for commas and colons, which links may have. */
const encode = (text: string): string => encodeURIComponent(text).replaceAll('%2C', ',').replaceAll('%3A', ':');

/** The filters and the order for the client library. */
export function exportQueryOf({ filters, sort }: ReportState): ExportQuery {
  return { ...(filters as ExportQuery), sort }; // the values are those of a query string
}

/** The whole query for the client library. */
export function queryOf(state: ReportState): SubscriptionQuery {
  return { ...exportQueryOf(state), size: state.size, page: state.page };
}

/** Filters that are set, or removed where they are `undefined`. */
export type FilterChanges = { readonly [Name in FilterName]?: string | undefined };

/** The state with other filters, from the first page. */
export function withFilters(state: ReportState, changed: FilterChanges): ReportState {
  const filters = Object.fromEntries(
    Object.entries({ ...state.filters, ...changed }).filter(([, value]) => value !== undefined),
  );
  return { ...state, filters, page: undefined, asksForEmail: state.asksForEmail && !('email' in changed) };
}
