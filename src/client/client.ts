import type { ChangesPage as ChangesAnswer, RemovedSubscription, SubscriptionChange } from '../contract/change.ts';
import { apiPath, operations } from '../contract/operations.ts';
import type { Problem } from '../contract/problem.ts';
import type { ReportParameter } from '../contract/query.ts';
import type { Subscription } from '../contract/subscription.ts';
import type { SubscriptionSummary, SummaryGroup, SummaryParameter } from '../contract/summary.ts';
import { ApiError, ConnectionError } from './error.ts';
import { send, sleep, type Transport } from './send.ts';
import { TokenSource } from './token-source.ts';

/** Credentials and URLs of a client. */
export interface SubreportClientOptions {
  /** Base URL of the API, including `/connect-api`. */
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Timeout of each request in milliseconds (default 30,000). */
  readonly timeoutMs?: number;
  /** Maximum number of attempts per request (default 3). */
  readonly triesMax?: number;
  readonly fetch?: typeof fetch;
}

/**
 * The filters, sort order and position of a report, by the names of the query parameters. Dates may
 * be `Date`s, and `true` and `false` may be booleans.
 */
export type SubscriptionQuery = {
  readonly [Name in Exclude<ReportParameter, 'format' | 'all'>]?: string | number | boolean | Date;
};

/** The filters and dimensions of a summary, by the names of the query parameters. */
export type SummaryQuery = {
  readonly [Name in Exclude<SummaryParameter, 'by'>]?: string | boolean | Date;
} & { readonly by?: SummaryGroup | readonly SummaryGroup[] };

/** One page of a report with its totals. */
export interface SubscriptionPage {
  readonly records: readonly Subscription[];
  readonly totalCount: number;
  readonly totalPages: number;
  readonly currentPage: number;
  /** URL of the next page; `undefined` on the last page. */
  readonly nextPage: string | undefined;
  readonly previousPage: string | undefined;
}

/** A page of changes, in the order in which to apply them. */
export interface ChangesPage {
  readonly changes: readonly SubscriptionChange[];
  /** Store it together with the applied changes: it is `since` of the next call. */
  readonly next: string;
  /** Whether more changes are available now. */
  readonly hasMore: boolean;
}

/** Options for reading changes. */
export interface ChangesOptions {
  /** Maximum number of changes per page. */
  readonly size?: number;
  readonly signal?: AbortSignal;
}

/** Client of the report: renews its tokens, retries failed requests and follows pages. */
export class SubreportClient {
  readonly #baseUrl: string;
  readonly #transport: Transport;
  readonly #tokens: TokenSource;

  constructor({
    baseUrl,
    tokenUrl,
    clientId,
    clientSecret,
    timeoutMs = 30_000,
    triesMax = 3,
    fetch: fetchIt = fetch,
  }: SubreportClientOptions) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#transport = { fetch: (input, init) => fetchIt(input, init), timeoutMs, triesMax, sleep };
    this.#tokens = new TokenSource({
      tokenUrl,
      clientId,
      clientSecret,
      transport: this.#transport,
      now: () => performance.now(),
    });
  }

  /**
   * Yields every record of a report and requests pages as needed. Throws `ApiError`,
   * `TokenRequestError` or `ConnectionError`.
   *
   * @example
   * for await (const subscription of client.listSubscriptions({ status: 'ACTIVE', size: 100 })) {
   *   console.log(subscription.id);
   * }
   */
  async *listSubscriptions(query: SubscriptionQuery = {}, signal?: AbortSignal): AsyncGenerator<Subscription> {
    for await (const page of this.listPages(query, signal)) yield* page.records;
  }

  /** Yields the pages of a report. */
  async *listPages(query: SubscriptionQuery = {}, signal?: AbortSignal): AsyncGenerator<SubscriptionPage> {
    for (let url: string | undefined = this.#reportUrl(query); url !== undefined; ) {
      const page: SubscriptionPage = await this.getPage(url, signal);
      yield page;
      url = page.nextPage;
    }
  }

  /** Returns one page of a report, by query or by a link of another page. */
  async getPage(query: SubscriptionQuery | string, signal?: AbortSignal): Promise<SubscriptionPage> {
    const response = await this.#get(typeof query === 'string' ? query : this.#reportUrl(query), signal);
    const number = (name: string): number => Number(response.headers.get(name));
    return {
      records: (await response.json()) as Subscription[],
      totalCount: number('x-total-count'),
      totalPages: number('x-total-pages'),
      currentPage: number('x-current-page'),
      nextPage: response.headers.get('x-next-page') ?? undefined,
      previousPage: response.headers.get('x-previous-page') ?? undefined,
    };
  }

  /** Returns one record by its id. Throws `ApiError` `NOT_FOUND` if you have no such record. */
  async getSubscription(id: string, signal?: AbortSignal): Promise<Subscription> {
    const path = operations.getSubscription.path.replace('{id}', encodeURIComponent(id));
    return (await (await this.#get(this.#url(path), signal)).json()) as Subscription;
  }

  /**
   * Returns counts of records, in total and by the dimensions in `by`, all from one snapshot.
   * Throws `ApiError`, `TokenRequestError` or `ConnectionError`.
   *
   * @example
   * const query = { 'plan-id': 'cGxhbi1ldXJvcGU', by: ['status', 'month'] };
   * const { total, by } = await client.getSubscriptionSummary(query);
   */
  async getSubscriptionSummary(query: SummaryQuery = {}, signal?: AbortSignal): Promise<SubscriptionSummary> {
    const response = await this.#get(this.#queryUrl(operations.getSubscriptionSummary.path, query), signal);
    return (await response.json()) as SubscriptionSummary;
  }

  /**
   * Yields pages of changes after a change token until the copy is up to date; without a token, all
   * changes from the beginning. There is always at least one page, which is empty if nothing
   * changed. Store `next` of each page together with its changes: it is the token to continue from,
   * even after an interruption. Throws `ApiError` `RESYNC_REQUIRED` if the token does not match the
   * records of the service: then read everything again, without a token, into an empty copy.
   *
   * @example
   * for await (const { changes, next } of client.listSubscriptionChanges(token)) {
   *   for (const change of changes) {
   *     if (isRemoved(change)) copy.delete(change.id);
   *     else copy.set(change.id, change);
   *   }
   *   token = next;
   * }
   */
  async *listSubscriptionChanges(since?: string, { size, signal }: ChangesOptions = {}): AsyncGenerator<ChangesPage> {
    for (let token = since, hasMore = true; hasMore; ) {
      const url = this.#queryUrl(operations.listSubscriptionChanges.path, { since: token, size });
      const { changes, next, has_more } = (await (await this.#get(url, signal)).json()) as ChangesAnswer;
      yield { changes, next, hasMore: has_more };
      [token, hasMore] = [next, has_more];
    }
  }

  #reportUrl(query: SubscriptionQuery): string {
    return this.#queryUrl(operations.listSubscriptions.path, query);
  }

  /** Builds a URL; dates become ISO strings, arrays comma-separated lists. */
  #queryUrl(path: string, query: object): string {
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(
      parameters.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : String(value)]),
    ).toString();
    return this.#url(path) + (text === '' ? '' : `?${text}`);
  }

  #url(path: string): string {
    return this.#baseUrl + path.slice(apiPath.length);
  }

  /** Sends a GET request with a token; after a 401, retries once with a new token. */
  async #get(url: string, signal?: AbortSignal): Promise<Response> {
    if (!url.startsWith(`${this.#baseUrl}/`)) {
      throw new TypeError(
        `Cannot follow a link: it must start with ${this.#baseUrl}, as the token must not be sent elsewhere: current value is '${url}'`,
      );
    }
    const sendWith = (token: string) =>
      send(this.#transport, url, { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } }, signal);
    const token = await this.#tokens.accessToken();
    const response = await sendWith(token);
    if (response.status !== 401) return requireOk(response);
    await response.body?.cancel();
    this.#tokens.invalidate(token);
    return requireOk(await sendWith(await this.#tokens.accessToken()));
  }
}

async function requireOk(response: Response): Promise<Response> {
  if (response.ok) return response;
  const problem: unknown = await response.json().catch(() => undefined);
  if (typeof problem === 'object' && problem !== null && 'type' in problem) throw new ApiError(problem as Problem);
  throw new ConnectionError(
    `Cannot read the response of ${new URL(response.url).origin}: it must be a problem document (RFC 9457): its status was ${response.status}`,
  );
}

/** Whether a subscription renews automatically, as a boolean. */
export function autoRenews(subscription: Pick<Subscription, 'auto_renew'>): boolean {
  return subscription.auto_renew.toLowerCase() === 'true';
}

/** Whether a change is the tombstone of a removed record. */
export function isRemoved(change: SubscriptionChange): change is RemovedSubscription {
  return 'removed' in change;
}
