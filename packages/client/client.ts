import { apiPath, isReservedId, reportPaths, serviceUrlOf } from '../contract/report.ts';
import { Api } from './api.ts';
import { type ChangesOptions, type ChangesSummaryOptions, listChanges } from './changes.ts';
import { type Clock, systemClock } from './clock.ts';
import { type ExportOptions, exportSubscriptions, type SubscriptionExport } from './export.ts';
import { type FollowOptions, followChanges } from './follow.ts';
import { createList, type ListOptions, type SubscriptionList } from './list.ts';
import type { CallOptions, ClientOptions, TokenSourceOptions } from './options.ts';
import {
  type ExportQuery,
  type Instant,
  isForBody,
  type Moment,
  type OrderedQuery,
  type SubscriptionQuery,
  type SummaryQuery,
} from './query.ts';
import {
  type ChangeOf,
  type ChangesPage,
  type ChangesSummary,
  parseSubscription,
  type RecordOf,
  type Subscription,
  type SubscriptionFindings,
  type SubscriptionHistory,
  type SubscriptionSummary,
} from './records.ts';
import { requireSecureUrl, Sender } from './sender.ts';
import { type AccessToken, TokenSource } from './token-source.ts';

/**
 * Reads reports, renews access tokens and retries failed requests. Every failed request rejects
 * with a `SubreportError`, or with the reason of the aborted signal.
 */
export interface SubreportClient {
  /**
   * Returns a report, whose pages are requested as they are read. A query with an email address or
   * a list of ids is sent in a request body; the pages say which of these no record has.
   *
   * @example
   * for await (const subscription of client.subscriptions({ status: ['ACTIVE', 'DEPLETED'] })) {
   *   console.log(subscription.id);
   * }
   */
  subscriptions<Parse extends boolean = false>(
    query?: SubscriptionQuery,
    options?: ListOptions<Parse>,
  ): SubscriptionList<RecordOf<Parse>>;

  /** Returns the same report; the whole query is sent in request bodies, never in URLs. */
  search<Parse extends boolean = false>(
    query: SubscriptionQuery,
    options?: ListOptions<Parse>,
  ): SubscriptionList<RecordOf<Parse>>;

  /**
   * Returns one record by its id, as it is or as it was at a moment. Rejects with `ApiError`
   * `NOT_FOUND` if there is none.
   */
  subscription<Parse extends boolean = false>(
    id: string,
    options?: ListOptions<Parse> & {
      readonly 'as-of'?: Moment | undefined;
      readonly fields?: OrderedQuery['fields'];
      readonly zone?: string | undefined;
    },
  ): Promise<RecordOf<Parse>>;

  /** Returns the kept versions of one record, newest first. */
  history(id: string, options?: CallOptions): Promise<SubscriptionHistory>;

  /**
   * Returns the whole report from one snapshot as a stream. By default, it fails at its end with
   * `ExportError` unless it is complete and unaltered: write it to a temporary file and rename it.
   *
   * @example
   * const report = await client.export({ status: 'ACTIVE' }, { format: 'csv' });
   * await writeFile('report.csv.part', report);
   * await rename('report.csv.part', 'report.csv');
   */
  export(query: ExportQuery, options: ExportOptions): Promise<SubscriptionExport>;

  /**
   * Returns counts of records, in total and by the dimensions in `by`.
   *
   * @example
   * const { total, by } = await client.summary({ 'auto-renew': false, by: ['status', 'month'] });
   */
  summary(query?: SummaryQuery, options?: CallOptions): Promise<SubscriptionSummary>;

  /** Returns what is contradictory or missing in the records: exact counts, and examples. */
  findings(options?: CallOptions): Promise<SubscriptionFindings>;

  /**
   * Yields pages of changes after a change token or an instant, until the copy is up to date;
   * without a token, all changes from the beginning; with `now`, one empty page with the current
   * change token. There is always at least one page, which is empty if nothing changed.
   *
   * Rejects with `ApiError` `RESYNC_REQUIRED` if the token is no longer valid: then read everything
   * again, without a token, into an empty copy. Rejects with `ApiError` `HISTORY_NOT_KEPT` if the
   * history does not reach back to the moment.
   */
  changes<Before extends boolean = false>(
    since?: Instant,
    options?: ChangesOptions<Before>,
  ): AsyncGenerator<ChangesPage<ChangeOf<Before>>, void, undefined>;

  /**
   * Returns exact counts of the changes after a change token or an instant, each record counted
   * once.
   *
   * @example
   * const { removed, by } = await client.changesSummary(new Date(Date.now() - 86_400_000));
   */
  changesSummary(since: Instant, options?: ChangesSummaryOptions): Promise<ChangesSummary>;

  /**
   * Calls `onPage` with each page of changes until the signal is aborted. The promise then resolves
   * after the page in progress. If the change token is no longer valid, everything is read again;
   * `reset` is true on the first page.
   */
  follow(options: FollowOptions): Promise<void>;

  /** Returns the current access token, renewed if necessary. */
  token(options?: Pick<CallOptions, 'signal'>): Promise<AccessToken>;

  /** Revokes the tokens of the client and removes them from the token store. */
  revoke(options?: CallOptions): Promise<void>;
}

/**
 * Creates a client. Nothing is sent before the first call.
 *
 * @example
 * const client = createClient({
 *   url: 'https://reports.example.com',
 *   clientId: process.env.CLIENT_ID,
 *   clientSecret: process.env.CLIENT_SECRET,
 * });
 */
export function createClient(options: ClientOptions): SubreportClient {
  return createClientWith(options, systemClock);
}

/** Creates a client with the given clock, and a class of requests. */
export function createClientWith(options: ClientOptions, clock: Clock, Requests = Api): SubreportClient {
  const { baseUrl, ...source } = withUrls(options);
  for (const url of [baseUrl, source.issuer ?? source.tokenUrl]) requireSecureUrl(url, options.allowHttp);
  const tokens = new TokenSource(source, clock);
  return {
    ...createReader(new Requests(baseUrl, new Sender(options, clock), tokens), clock),
    token: (given) => tokens.token(given),
    revoke: (given) => tokens.revoke(given),
  };
}

/** The options with the URLs that follow from the URL of the service. */
function withUrls(options: ClientOptions): TokenSourceOptions & { readonly baseUrl: string } {
  if (options.baseUrl !== undefined) return options;
  if (!options.url)
    throw new TypeError('Cannot create a client: url must be given, such as https://reports.example.com');
  const url = serviceUrlOf(options.url);
  const baseUrl = url + apiPath;
  return options.issuer === undefined && options.tokenUrl === undefined
    ? { ...options, baseUrl, issuer: url }
    : { ...options, baseUrl };
}

/** The operations of a client, however its requests are authenticated. */
type ReportReader = Omit<SubreportClient, 'token' | 'revoke'>;

/** Creates the operations of a client. */
export function createReader(api: Api, clock: Clock): ReportReader {
  const list = <Parse extends boolean>(query: SubscriptionQuery, inBody: boolean, given: ListOptions<Parse> = {}) =>
    createList({ api, query, inBody, convert: converterOf(given), options: given });
  const read = async <T>(path: string, query: object, given: CallOptions = {}): Promise<T> =>
    (await api.json<T>(path, { query }, given)).body;
  return {
    subscriptions: (query = {}, given) => list(query, isForBody(query), given),
    search: (query, given) => list(query, true, given),
    subscription: async (id, { 'as-of': asOf, fields, zone, ...given } = {}) => {
      return converterOf(given)(await read<Subscription>(pathOf(id), { 'as-of': asOf, fields, zone }, given));
    },
    history: async (id, given) => read<SubscriptionHistory>(`${pathOf(id)}/history`, {}, given),
    export: (query, given) => exportSubscriptions(api, query, given),
    summary: async (query = {}, given) =>
      read<SubscriptionSummary>(reportPaths.getSubscriptionSummary, inUrl(query), given),
    findings: (given) => read<SubscriptionFindings>(`${reportPaths.listSubscriptions}/findings`, {}, given),
    changes: (since, given = {}) => listChanges(api, since, given),
    changesSummary: (since, { until, zone, ...given } = {}) =>
      read<ChangesSummary>(`${reportPaths.listSubscriptionChanges}/summary`, { since, until, zone }, given),
    follow: (given) => followChanges(api, given, clock),
  };
}

/** Throws `TypeError` for an id whose path would be that of another operation. */
function pathOf(id: string): string {
  if (!isReservedId(id)) return reportPaths.getSubscription.replace('{id}', encodeURIComponent(id));
  throw new TypeError(`Cannot get a subscription: id must be that of a record: current value is '${id}'`);
}

function converterOf<Parse extends boolean>({ parse }: Pick<ListOptions<Parse>, 'parse'>) {
  return (record: Subscription) => (parse === true ? parseSubscription(record) : record) as RecordOf<Parse>;
}

/** Callers without type checks could put an email address or a list into the URL. */
function inUrl(query: SummaryQuery): SummaryQuery {
  if (!isForBody(query)) return query;
  throw new TypeError('Cannot send an email address or ids in a URL: use search(query).total()');
}
