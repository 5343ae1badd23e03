import type {
  ChangesSummary,
  SubreportClient,
  SubscriptionPage,
  SubscriptionSummary,
  SummaryQuery,
} from '../client/index.ts';
import { didYouMean } from '../contract/suggest.ts';
import { inputs, type ObjectSchema, outputs, rowsDefault, rowsMax } from './schemas.ts';

/** Arguments by name, as a model sent them. */
export type Arguments = Readonly<Record<string, unknown>>;

/** What a call works with. */
interface Call {
  readonly client: SubreportClient;
  /** Options of each call of the client. */
  readonly options: { readonly correlationId: string; readonly signal: AbortSignal };
  /** The filters that the service applied, once it has responded. */
  appliedFilters(): string | undefined;
}

/** A tool: a question about the report, and its answer as structured content. */
export interface Tool {
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  /** Returns the answer. Rejects with the errors of the client library. */
  run(call: Call, given: Arguments): Promise<Answer>;
}

type Answer = Readonly<Record<string, unknown>>;

/** Most bytes of an answer as JSON. */
const answerBytesMax = 32_768;

/** The tools by name. */
export const tools: Readonly<Record<string, Tool>> = {
  count_subscriptions: {
    title: 'Count subscriptions',
    description:
      'Counts the data subscriptions that match the filters. The number is exact. If it is 0, explanation says whether no subscription at all has such a status, product or plan.',
    input: inputs.count,
    output: outputs.count,
    async run({ client, options, ...call }, given) {
      const page = await client.subscriptions({ ...given, size: 1 }, options).page();
      const counted = totalOf(page);
      if (counted.total === undefined)
        throw new TypeError('Cannot count the subscriptions: the server sends no total; list them instead');
      return { ...counted, ...explained(page.explanation), applied_filters: call.appliedFilters() };
    },
  },
  list_subscriptions: {
    title: 'List subscriptions',
    description: `Lists data subscriptions that match the filters: at most ${rowsMax}, and the cursor of the following ones. To know how many there are, use the total of the answer; never count pages.`,
    input: inputs.list,
    output: outputs.list,
    run: listRows,
  },
  get_subscription: {
    title: 'Get one subscription',
    description: 'Returns one data subscription by its id, as it is or as it was at a moment.',
    input: inputs.get,
    output: outputs.get,
    async run({ client, options }, { id, ...given }) {
      const record = await client.subscription(String(id), { ...given, ...options });
      return { record, applied_filters: queryStringOf({ id, ...given }) };
    },
  },
  summarize_subscriptions: {
    title: 'Summarize subscriptions',
    description:
      'Counts the data subscriptions that match the filters, in total and by status, product, plan, auto-renew, day or month. All counts are exact and from one moment.',
    input: inputs.summary,
    output: outputs.summary,
    async run({ client, options, ...call }, given) {
      const summary = await client.summary(given as SummaryQuery, options);
      return largestCounts(summary, { ...explained(summary.explanation), applied_filters: call.appliedFilters() });
    },
  },
  list_changes: {
    title: 'List changes',
    description: `Lists what was added, changed or removed since a change token or an instant: at most ${rowsMax} changes, and the token of the following ones in next. With since=now, returns the current token.`,
    input: inputs.changes,
    output: outputs.changes,
    run: ({ client, options }, { since, size: wanted = rowsDefault, ...given }) =>
      fitting(Number(wanted), async (size) => {
        const pages = client.changes(since as string | undefined, { ...given, ...options, size });
        const { value } = await pages.next();
        if (value === undefined) throw new Error('a page of changes is missing');
        const { changes, next, hasMore } = value;
        return { changes, next, has_more: hasMore, applied_filters: queryStringOf({ since, ...given }) };
      }),
  },
  summarize_changes: {
    title: 'Count changes',
    description:
      'Counts what was added, changed and removed since a change token or an instant, each record once: by transition of the status, move to another product, day and import. All counts are exact and from one moment; omitted says what the lists leave out. Use it for every question of how many; list_changes shows the changes behind a count.',
    input: inputs.changesSummary,
    output: outputs.changesSummary,
    async run({ client, options }, { since, until }) {
      const summary = await client.changesSummary(String(since), {
        ...(until !== undefined && { until: String(until) }),
        ...options,
      });
      return fewerTransitions(summary, { applied_filters: queryStringOf({ since, until }) });
    },
  },
};

/**
 * Faults of arguments that a request would not reveal: unknown names, types, and the number of
 * rows. The service names all others.
 */
export function faultsOf({ input }: Tool, given: Arguments): readonly string[] {
  const names = Object.keys(input.properties);
  const missing = (input.required as readonly string[]).filter((name) => given[name] === undefined);
  return [
    ...missing.map((name) => `Cannot use '${name}': it must be given`),
    ...Object.entries(given).flatMap(([name, value]) => {
      const schema = input.properties[name];
      const shown = `current value is ${JSON.stringify(value)}`;
      if (schema === undefined)
        return [`Cannot use '${name}': it must be one of ${names.join(', ')}${didYouMean(name, names)}`];
      const rows = name === 'size' && !(Number.isInteger(value) && Number(value) >= 1 && Number(value) <= rowsMax);
      if (rows) return [`Cannot use 'size': it must be an integer from 1 to ${rowsMax}: ${shown}`];
      if (name === 'cursor' && !isCursor(String(value)))
        return [`Cannot use 'cursor': it must be next_cursor of an earlier answer, unchanged: ${shown}`];
      const isValue = ['string', 'number', 'boolean'].includes(typeof value);
      return isValue ? [] : [`Cannot use '${name}': it must be a string: ${shown}`];
    }),
  ];
}

/**
 * A cursor of the tool: the size that the service's cursor belongs to, the last row that was
 * returned of the page there, and the service's cursor. The last two may be empty.
 */
const cursorPattern = /^(\d{1,2})\.([\w=-]*)\.([\w-]*)$/;

const isCursor = (text: string): boolean => {
  const size = Number(cursorPattern.exec(text)?.[1]);
  return size >= 1 && size <= rowsMax;
};

/** Returns as many rows of a page as fit; the cursor then leads to the same page. */
async function listRows({ client, options, ...call }: Call, given: Arguments): Promise<Answer> {
  const { size = rowsDefault, cursor = `${size}..`, ...query } = given;
  const [, pageSize, last, at = ''] = cursorPattern.exec(String(cursor)) ?? [];
  const position = { size: Number(pageSize), ...(at !== '' && { cursor: at }) };
  const page = await client.subscriptions({ ...query, ...position }, options).page();
  const rows = page.records.slice(page.records.findIndex(({ id }) => id === last) + 1);
  const answerOf = (records: typeof rows): Answer => {
    const here = `${pageSize}.${records.at(-1)?.id}.${at}`;
    const next = page.nextCursor === undefined ? undefined : `${pageSize}..${page.nextCursor}`;
    const following = records.length < rows.length ? here : next;
    const rest = { ...(following !== undefined && { next_cursor: following }), applied_filters: call.appliedFilters() };
    return { ...totalOf(page), ...explained(page.explanation), records, ...rest };
  };
  for (let count = rows.length; count > 1; count -= 1) {
    const answer = answerOf(rows.slice(0, count));
    if (bytesOf(answer) <= answerBytesMax) return answer;
  }
  return answerOf(rows.slice(0, 1));
}

/** Asks for fewer rows until the answer is short enough; the token then continues after them. */
async function fitting(size: number, ask: (size: number) => Promise<Answer>): Promise<Answer> {
  const answer = await ask(size);
  return size === 1 || bytesOf(answer) <= answerBytesMax ? answer : fitting(Math.floor(size / 2), ask);
}

/** The total of a page, which another server of the API may not send. */
const totalOf = ({ headers, totalCount }: SubscriptionPage): { readonly total?: number } =>
  headers.has('x-total-count') ? { total: totalCount } : {};

const explained = (explanation: string | undefined): Answer => (explanation === undefined ? {} : { explanation });

const bytesOf = (answer: Answer): number => Buffer.byteLength(JSON.stringify(answer));

type Counts = readonly { readonly count: number }[];

/** The summary, with fewer values of each dimension until it is short enough. */
function largestCounts({ total, by }: SubscriptionSummary, more: Answer, most = Number.POSITIVE_INFINITY): Answer {
  const dimensions: readonly [string, Counts][] = Object.entries(by);
  const kept = dimensions.map(([name, counts]) => [name, largest(counts, most)] as const);
  const left = dimensions.flatMap(([name, { length }]) => (length > most ? [[name, length - most]] : []));
  const omitted = left.length === 0 ? {} : { omitted: Object.fromEntries(left) };
  const answer = { total, by: Object.fromEntries(kept), ...omitted, ...more };
  if (bytesOf(answer) <= answerBytesMax) return answer;
  const longest = Math.max(...kept.map(([, { length }]) => length));
  return largestCounts({ total, by }, more, Math.floor(longest / 2));
}

/**
 * The summary of changes, with shorter lists until it is short enough; `omitted` says what is
 * missing.
 */
function fewerTransitions(summary: ChangesSummary, more: Answer, most = Number.POSITIVE_INFINITY): Answer {
  const { by, omitted } = summary;
  const left = (list: Counts): number => list.slice(most).reduce((sum, { count }) => sum + count, 0);
  const lists = { ...by, status: by.status.slice(0, most), 'product-id': by['product-id'].slice(0, most) };
  const imports = by.import
    .slice(0, most)
    .map(({ status, ...rest }) => ({ ...rest, status: status.slice(0, most), omitted: rest.omitted + left(status) }));
  const answer = {
    ...summary,
    by: { ...lists, import: imports },
    omitted: {
      status: omitted.status + left(by.status),
      'product-id': omitted['product-id'] + left(by['product-id']),
      import: omitted.import + by.import.length - imports.length,
    },
    ...more,
  };
  if (bytesOf(answer) <= answerBytesMax || most <= 1) return answer;
  const longest = Math.max(by.status.length, by['product-id'].length, by.import.length, 2);
  return fewerTransitions(summary, more, Math.floor(Math.min(most, longest) / 2));
}

/** The largest counts in their former order. */
function largest(counts: Counts, most: number): Counts {
  if (counts.length <= most) return counts;
  const least = new Set(counts.toSorted((a, b) => b.count - a.count).slice(0, most));
  return counts.filter((entry) => least.has(entry));
}

const queryStringOf = (given: Arguments): string => {
  const pairs = Object.entries(given).filter(([, value]) => value !== undefined);
  return new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
};
