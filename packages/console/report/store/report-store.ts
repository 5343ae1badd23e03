import { batch, computed, effect, signal } from '@preact/signals';
import type { SubscriptionPage } from '../../../client/index.ts';
import type { CallOptions } from '../../../client/options.ts';
import { currentLocation, navigate } from '../../ui/location.tsx';
import { reports } from '../api.ts';
import {
  formatReportState,
  isIncomplete,
  parseReportState,
  pastQueryOf,
  queryOf,
  type ReportState,
  type Unlinked,
} from '../link/report-state.ts';
import { session } from '../session/session.ts';
import { rememberProducts } from '../words/product-names.ts';
import { EntryMemories, type EntryMemory } from './entry-memory.ts';
import { readPastPage } from './past-page.ts';
import { requireCounts } from './require-counts.ts';

/** The path of the page; the path of a record is below it. */
export const subscriptionsPath = '/console/subscriptions';

/** A page of the report as the service returned it. */
export interface LoadedReport {
  readonly state: ReportState;
  /** Where it was asked for; `back` if it is shown again after Back or Forward. */
  readonly place: Place | 'back';
  readonly page: SubscriptionPage;
  readonly loadedAt: Date;
}

/** Where the user asked for a page; its error is shown there. */
export type Place = 'filters' | 'above' | 'below';

/** A request for a page that has not succeeded. */
export interface PendingReport {
  readonly state: ReportState;
  readonly place: Place;
  /** Why it failed; absent while it is in progress. */
  readonly error?: unknown;
}

const memories = new EntryMemories<LoadedReport>();
const unlinked = signal<Unlinked>({});

/** What the link of the page names: a state, or the faults of its parameters. */
export const link = computed(() => {
  currentLocation.value; // its query has replaced what cannot be decoded
  return parseReportState(window.location.search, unlinked.value);
});

/** The page of the report on screen; that of an earlier link while `pending` has another state. */
export const loaded = signal<LoadedReport | undefined>(undefined);

/** The request for what the link names, until it succeeds. */
export const pending = signal<PendingReport | undefined>(undefined);

/** The link of a state, with the record that is open beside the report, if any. */
export function reportHref(state: ReportState, recordId?: string): string {
  const search = formatReportState(state);
  const path = recordId === undefined ? subscriptionsPath : `${subscriptionsPath}/${encodeURIComponent(recordId)}`;
  return search === '' ? path : `${path}?${search}`;
}

/** What the next history entry begins with, besides the memory of the last one. */
let next: { readonly place: Place; readonly unlinked?: Unlinked } = { place: 'above' };

/** Shows another state of the report. Back returns to this one. */
export function showReport(state: ReportState, place: Place = 'filters'): void {
  next = { place, unlinked: { email: state.filters.email, listed: state.listed } };
  navigate(reportHref(state));
}

/** Grows whenever the report is requested again, or the page is opened. */
export const openings = signal(0);

/** Requests what the link names once more; what earlier entries show is no longer current. */
export function refreshReport(place: Place = 'above'): void {
  openings.value += 1;
  memories.forgetLoaded();
  const parsed = link.peek();
  if ('state' in parsed && isListed(parsed.state)) void load(parsed.state, place);
}

/** Whether a state is a list of records that can be requested. */
const isListed = (state: ReportState): boolean => !isIncomplete(state) && state.by === undefined;

/** Sets what the link does not have. */
export function completeLink(given: Unlinked): void {
  const { current } = memories;
  unlinked.value = { ...unlinked.peek(), ...given };
  if (current !== undefined) current.unlinked = unlinked.peek();
  refreshReport('filters');
}

/** The memory of the current history entry. */
export const currentMemory = (): EntryMemory<LoadedReport> | undefined => memories.current;

/** Loads what the link names, now and after each change of the link. Returns how to stop it. */
export function followLink(): () => void {
  openings.value += 1;
  const stop = effect(() => {
    if (currentLocation.value.path.startsWith(subscriptionsPath)) enterEntry();
  });
  return () => {
    stop();
    abort();
    memories.leave();
    loaded.value = undefined;
  };
}

function enterEntry(): void {
  const { place } = next;
  const memory = memories.enter((last) => ({ ...last, unlinked: next.unlinked ?? last?.unlinked }));
  next = { place: 'above' };
  unlinked.value = memory.unlinked ?? {};
  const parsed = link.peek();
  abort();
  if (!('state' in parsed) || !isListed(parsed.state)) return;
  const known = memory.loaded;
  if (known === undefined || !isSame(known.state, parsed.state)) void load(parsed.state, place);
  else if (known.page !== loaded.peek()?.page) loaded.value = { ...known, place: 'back' };
}

let controller = new AbortController();

/** Aborts the request in progress. */
function abort(): void {
  controller.abort();
  pending.value = undefined;
}

async function load(state: ReportState, place: Place): Promise<void> {
  abort();
  controller = new AbortController();
  const { signal } = controller;
  const memory = memories.current;
  pending.value = { state, place };
  try {
    const page = await readPage(state, { signal });
    if (signal.aborted) return;
    batch(() => {
      pending.value = undefined;
      loaded.value = { state, page, place, loadedAt: new Date() };
      rememberProducts(page.records.map(({ product }) => product));
      if (memory !== undefined) memory.loaded = loaded.value;
    });
  } catch (error) {
    if (!signal.aborted) pending.value = { state, place, error };
  }
}

/** Rows of the past if the link has no size. */
const pastSize = 20;

const readPage = async (state: ReportState, options: CallOptions): Promise<SubscriptionPage> =>
  requireCounts(
    state.asOf === undefined
      ? await reports.subscriptions(positioned(state), options).page()
      : await readPastPage(pastQueryOf(state), state.size ?? pastSize, options),
  );

/** The number of records of a state. */
export const countRecords = async (state: ReportState, options: CallOptions): Promise<number> =>
  state.asOf === undefined
    ? reports.subscriptions(queryOf(state), options).total()
    : (await readPastPage(pastQueryOf(state), 0, options)).totalCount;

/**
 * The query of a state. The pages beside the one on screen are requested by cursor, so that walking
 * neither skips nor repeats a record while others are added.
 */
function positioned(state: ReportState) {
  const query = queryOf(state);
  const shown = loaded.peek();
  if (shown === undefined || !isSame({ ...shown.state, page: undefined }, { ...state, page: undefined })) return query;
  const { currentPage, nextCursor, previousCursor } = shown.page;
  const cursor = { [currentPage + 1]: nextCursor, [currentPage - 1]: previousCursor }[state.page ?? 1];
  return cursor === undefined ? query : { ...query, page: undefined, cursor };
}

/** Whether two states are the same part of the same report. */
export const isSame = (a: ReportState, b: ReportState): boolean =>
  a.filters.email === b.filters.email && a.listed === b.listed && formatReportState(a) === formatReportState(b);

session.onLeave(() => {
  abort();
  memories.clear();
  loaded.value = undefined;
});
