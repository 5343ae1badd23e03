import type {
  ExportQuery,
  Moment,
  NotFound,
  SubreportClient,
  Subscription,
  SubscriptionPage,
  SubscriptionSummary,
  SummaryQuery,
} from '../client/index.ts';
import { findingKinds } from '../contract/findings.ts';
import { shorten } from '../contract/problem.ts';
import { readStatusFilter, statusFilterOf } from '../contract/subscription.ts';
import { suggest, suggestionsMax } from '../contract/suggest.ts';
import { type Answer, fewerExamples, fewerTransitions, isShort, largestCounts, longest, tableOf } from './answers.ts';
import { type Arguments, cursorPattern } from './arguments.ts';
import { inputs, type ObjectSchema, rowsDefault, rowsMax } from './schemas.ts';

/** What a call works with. */
interface Call {
  readonly client: SubreportClient;
  /** Options of each call of the client. */
  readonly options: { readonly correlationId: string; readonly signal: AbortSignal };
  /** The filters that the service applied, once it has responded. */
  appliedFilters(): string | undefined;
}

/** A tool: a question about the report, and its answer. */
export interface Tool {
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  /** Answers arguments of `readArguments`. Rejects with the errors of the client library. */
  run(call: Call, given: Arguments): Promise<Answer>;
}

const asTable = 'Each row has a cell for each column.';
const kinds = Object.entries(findingKinds).map(([kind, description]) => `${kind}: ${description}`);

/** The tools by name. */
export const tools: Readonly<Record<string, Tool>> = {
  list_subscriptions: {
    title: 'List subscriptions',
    description: `Lists data subscriptions that match the filters: at most ${rowsMax}, and the cursor of the following ones. ${asTable} The total of the answer is exact: for a number alone, ask with size 1, and never count pages. If no subscription has a status, product or plan of the filters, explanation says so; not_found has the values of lists that none has.`,
    input: inputs.list,
    run: (call, given) => (given['as-of'] === undefined ? listRows(call, given) : listPast(call, given)),
  },
  get_subscription: {
    title: 'Get one subscription',
    description: 'Returns one data subscription by its id, as it is or as it was at a moment.',
    input: inputs.get,
    async run({ client, options }, { id, ...given }) {
      const record = await client.subscription(String(id), { ...given, ...options });
      return { record, applied_filters: queryStringOf({ id, ...given }) };
    },
  },
  get_subscription_history: {
    title: 'Get the history of one subscription',
    description: `Returns the kept versions of one data subscription, newest first: when each was committed, and what it was. ${asTable} To find the id of a SIM, list the subscriptions of its iccid.`,
    input: inputs.history,
    async run({ client, options }, { id }) {
      const { versions, has_more: hasMore } = await client.history(String(id), options);
      const rows = versions.map(({ record, ...version }) => ({ ...version, ...withoutId(record) }));
      return longest(rows, (kept) => ({
        ...{ id, ...tableOf(kept) },
        ...{ has_more: hasMore || kept.length < rows.length, applied_filters: queryStringOf({ id }) },
      }));
    },
  },
  summarize_subscriptions: {
    title: 'Summarize subscriptions',
    description:
      'Counts the data subscriptions that match the filters, now or at an instant of the past: in total and by status, product, plan, auto-renew, day or month. All counts are exact and from one moment.',
    input: inputs.summary,
    async run(call, given) {
      const summary = await call.client.summary(given as SummaryQuery, call.options);
      const applied = call.appliedFilters();
      const note = await explained(call, given, summary.explanation);
      return largestCounts(summary, { ...note, applied_filters: applied });
    },
  },
  list_findings: {
    title: 'List findings',
    description: `Examines all data subscriptions and returns what is contradictory or missing, by kind: an exact count, since when, and examples. It can take some seconds. ${kinds.join('. ')}.`,
    input: inputs.findings,
    run: async ({ client, options }) => fewerExamples(await client.findings(options), { applied_filters: '' }),
  },
  list_changes: {
    title: 'List changes',
    description: `Lists what was added, changed or removed since a change token or an instant: at most ${rowsMax} changes, and the token of the following ones in next. ${asTable} With before=true, each has its kind, when it was committed, and in before the members that were different. With since=now, returns the current token.`,
    input: inputs.changes,
    run: (call, { size: wanted = rowsDefault, ...given }) =>
      fitting(Number(wanted), async (size) => {
        const { since, ...filters } = given;
        const pages = call.client.changes(since as string | undefined, { ...filters, ...call.options, size });
        const { value } = await pages.next();
        if (value === undefined) throw new Error('a page of changes is missing');
        const { changes, next, hasMore } = value;
        const note = changes.length === 0 ? await unknownStatus(call, statusesOfChange(given)) : undefined;
        return {
          ...tableOf(changes),
          ...{ next, has_more: hasMore, ...(note !== undefined && { explanation: note }) },
          applied_filters: queryStringOf(given),
        };
      }),
  },
  summarize_changes: {
    title: 'Count changes',
    description:
      'Counts what was added, changed and removed since a change token or an instant, each record once: by transition of the status, move to another product, day and import. All counts are exact and from one moment; omitted says what the lists leave out. Use it for every question of how many; list_changes shows the changes behind a count.',
    input: inputs.changesSummary,
    async run({ client, options }, { since, ...given }) {
      const summary = await client.changesSummary(String(since), { ...given, ...options });
      return fewerTransitions(summary, { applied_filters: queryStringOf({ since, ...given }) });
    },
  },
};

interface Explained {
  readonly explanation?: string | undefined;
}

/** Most values of a list that an answer names as not found. */
const missingMax = 50;

/** The values of lists that no subscription has: how many, and the first ones. */
function missingOf(notFound: NotFound = {}): { readonly not_found?: object } {
  const lists = Object.entries(notFound);
  if (lists.length === 0) return {};
  return {
    not_found: Object.fromEntries(
      lists.map(([name, values]) => [name, { count: values.length, values: values.slice(0, missingMax) }]),
    ),
  };
}

/** Returns as many rows of a page as fit; the cursor then leads to the same page. */
async function listRows(call: Call, given: Arguments): Promise<Answer> {
  const { client, options } = call;
  const { size = rowsDefault, cursor = `${size}..`, ...query } = given;
  const [, pageSize, last, at = ''] = cursorPattern.exec(String(cursor)) ?? [];
  const position = { size: Number(pageSize), ...(at !== '' && { cursor: at }) };
  // a cursor names the last row by its id
  const isNamed = query.fields === undefined || String(query.fields).split(',').includes('id');
  const asked = isNamed ? query : { ...query, fields: `id,${query.fields}` };
  const page = await client.subscriptions({ ...asked, ...position }, options).page();
  const applied = call.appliedFilters();
  const note = await explained(call, given, page.explanation);
  const rows = page.records.slice(page.records.findIndex(({ id }) => id === last) + 1);
  return longest(rows, (records) => {
    const here = `${pageSize}.${records.at(-1)?.id}.${at}`;
    const next = page.nextCursor === undefined ? undefined : `${pageSize}..${page.nextCursor}`;
    const following = records.length < rows.length ? here : next;
    const isOpen = at === '' && following === undefined && rows.length > 0 && !(page.totalCount <= rows.length);
    const rest = {
      ...(following !== undefined && { next_cursor: following }),
      ...(isOpen && { more: 'there may be others: the server does not say how to list them; narrow the filters' }),
      applied_filters: applied,
    };
    const shown = isNamed ? records : records.map(({ id: _id, ...others }) => others);
    return { ...totalOf(page), ...note, ...missingOf(page.notFound), ...tableOf(shown), ...rest };
  });
}

/** Returns the first rows of the past, which has no pages, from an export that is then aborted. */
async function listPast(call: Call, { size = rowsDefault, cursor, ...query }: Arguments): Promise<Answer> {
  if (cursor !== undefined)
    throw new TypeError("Cannot use 'cursor' together with 'as-of': the past has no pages: narrow the filters");
  const { client, options } = call;
  const report = await client.export(query as ExportQuery, { ...options, format: 'ndjson', verify: false });
  const applied = call.appliedFilters();
  const { total } = totalOf(report);
  if (total === undefined) {
    await report.cancel();
    throw new TypeError('Cannot list the past: the server must send X-Total-Count');
  }
  // before another request, so that the export is not kept open
  const records = await firstRecords(report, Math.min(Number(size), total));
  const note = await explained(call, query, report.explanation);
  return longest(records, (kept) => ({
    ...{ total, ...note, ...missingOf(report.notFound), ...tableOf(kept) },
    ...(kept.length < total && {
      note: `These are the first ${kept.length} of ${total}: the past has no pages; narrow the filters to see others`,
    }),
    applied_filters: applied,
  }));
}

async function firstRecords(report: ReadableStream<Uint8Array>, count: number): Promise<Subscription[]> {
  const decoder = new TextDecoder();
  let text = '';
  let lines: string[] = [];
  for await (const part of report) {
    text += decoder.decode(part, { stream: true });
    lines = text.split('\n');
    if (lines.length > count) break; // which aborts the export
  }
  return lines.slice(0, count).map((line) => JSON.parse(line) as Subscription);
}

/** Asks for fewer rows until the answer is short enough; the token then continues after them. */
async function fitting(size: number, ask: (size: number) => Promise<Answer>): Promise<Answer> {
  const answer = await ask(size);
  return size === 1 || isShort(answer) ? answer : fitting(Math.floor(size / 2), ask);
}

/** The total of a page or an export, which another server of the API may not send. */
const totalOf = ({ totalCount }: Pick<SubscriptionPage, 'totalCount'>): { readonly total?: number } =>
  Number.isNaN(totalCount) ? {} : { total: totalCount };

/**
 * Why nothing matches, from the service; otherwise which of several statuses no subscription has,
 * of which the service says nothing.
 */
async function explained(call: Call, given: Arguments, explanation: string | undefined): Promise<Explained> {
  if (explanation !== undefined) return { explanation };
  const statuses = String(given.status ?? '').split(',');
  if (statuses.length < 2) return {};
  const note = await unknownStatus(call, statuses, given['as-of'] as Moment | undefined);
  return note === undefined ? {} : { explanation: note };
}

/** The statuses that a question about changes names. */
const statusesOfChange = ({ field, from, to }: Arguments): readonly string[] =>
  field === 'status' ? [from, to].filter((status) => status !== undefined).map(String) : [];

/** Names the statuses that no subscription has, and those that there are. */
async function unknownStatus(
  { client, options }: Call,
  statuses: readonly string[],
  asOf?: Moment,
): Promise<string | undefined> {
  if (statuses.length === 0) return undefined;
  const query = { by: 'status', ...(asOf !== undefined && { 'as-of': asOf }) } as const;
  const { by }: SubscriptionSummary = await client.summary(query, options);
  const known = (by.status ?? []).map(({ value }) => value);
  const missing = statuses.filter((status) => !known.includes(readStatusFilter(status)));
  if (missing.length === 0) return undefined;
  if (known.length === 0) return 'There are no subscriptions';
  const names = known.map(statusFilterOf);
  const similar = missing
    .slice(0, suggestionsMax)
    .map((status) => suggest(status, names))
    .filter((each) => each !== undefined);
  const hint = similar.length === 0 ? '' : `; did you mean ${quoted(similar)}?`;
  return `No subscription has the status ${quoted(missing)}; there are ${quoted(names)}${hint}`;
}

/** Most statuses that an explanation names. */
const namesMax = 5;

/** Statuses in quotes: the first ones, and how many more there are. */
function quoted(statuses: readonly string[]): string {
  const shown = statuses.slice(0, namesMax).map((each) => `'${shorten(each)}'`);
  const more = statuses.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The record of a version without its id, which all versions have. */
function withoutId(record: Subscription | undefined): Partial<Subscription> {
  const { id: _id, ...rest } = record ?? ({} as Partial<Subscription>);
  return rest;
}

const queryStringOf = (given: Arguments): string => {
  const pairs = Object.entries(given).filter(([, value]) => value !== undefined);
  return new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
};
