import type { ChangesPage as ChangesAnswer, RemovedSubscription, SubscriptionChange } from '../contract/change.ts';
import { apiPath, operations } from '../contract/operations.ts';
import type { Problem } from '../contract/problem.ts';
import type { ReportParameter } from '../contract/query.ts';
import type { Subscription } from '../contract/subscription.ts';
import type { SubscriptionSummary, SummaryGroup, SummaryParameter } from '../contract/summary.ts';
import { ApiError, ConnectionError } from './error.ts';
import { send, sleep, type Transport } from './send.ts';
import { TokenSource } from './token-source.ts';

/** Who the client is and where the service is. */
export interface SubreportClientOptions {
  /** Base URL of the API, with `/connect-api` at its end. */
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Longest wait for one answer, in milliseconds (30,000 when left out). */
  readonly timeoutMs?: number;
  /** Tries of each request in all (3 when left out). */
  readonly triesMax?: number;
  readonly fetch?: typeof fetch;
}

/**
 * The filters, order and position of a report, by the names of its query parameters; dates may be
 * `Date`s, words of truth booleans.
 */
export type SubscriptionQuery = {
  readonly [Name in Exclude<ReportParameter, 'format' | 'all'>]?: string | number | boolean | Date;
};

/** The filters of a summary, by the names of its query parameters, and what to count by. */
export type SummaryQuery = {
  readonly [Name in Exclude<SummaryParameter, 'by'>]?: string | boolean | Date;
} & { readonly by?: SummaryGroup | readonly SummaryGroup[] };

/** One page of a report with its totals. */
export interface SubscriptionPage {
  readonly records: readonly Subscription[];
  readonly totalCount: number;
  readonly totalPages: number;
  readonly currentPage: number;
  /** URL of the next page, when there is one. */
  readonly nextPage: string | undefined;
  readonly previousPage: string | undefined;
}

/** Some changes, in the order to apply them, and the token to go on from. */
export interface ChangesPage {
  readonly changes: readonly SubscriptionChange[];
  /** Keep it together with what was applied: it is the `since` of the next time. */
  readonly next: string;
  /** Whether more is there already. */
  readonly hasMore: boolean;
}

/** How changes are read. */
export interface ChangesOptions {
  /** Changes in one page, at most. */
  readonly size?: number;
  readonly signal?: AbortSignal;
}

/** Reads the report: keeps its tokens fresh, repeats what failed on the way, follows the pages. */
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
   * Every record of a report, page after page as they are needed. Fails with `ApiError`,
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

  /** The pages of a report, one after the other. */
  async *listPages(query: SubscriptionQuery = {}, signal?: AbortSignal): AsyncGenerator<SubscriptionPage> {
    for (let url: string | undefined = this.#reportUrl(query); url !== undefined; ) {
      const page: SubscriptionPage = await this.getPage(url, signal);
      yield page;
      url = page.nextPage;
    }
  }

  /** One page of a report: of a query, or of a link that another page gave. */
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

  /** One record by its id. Fails with `ApiError` `NOT_FOUND` when it is not one of your own. */
  async getSubscription(id: string, signal?: AbortSignal): Promise<Subscription> {
    const path = operations.getSubscription.path.replace('{id}', encodeURIComponent(id));
    return (await (await this.#get(this.#url(path), signal)).json()) as Subscription;
  }

  /**
   * How many records there are, in all and by what `by` names; all counts are of one moment. Fails
   * with `ApiError`, `TokenRequestError` or `ConnectionError`.
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
   * What changed after a token (`listSubscriptionChanges`), page after page until you have caught
   * up; without a token everything, from the beginning. There is always a page, without changes
   * when nothing changed. Keep each page's `next` together with its changes: it is the token to go
   * on from, half-way too. Fails with `ApiError` `RESYNC_REQUIRED` when the service has other
   * records than those of the token: read everything anew, without a token, into an empty copy.
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

  /** Dates as their text, lists with commas. */
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

  /** Sends a GET with a token; a token that is refused is replaced once. */
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

/** Whether a subscription renews itself: the word on the wire as a boolean. */
export function autoRenews(subscription: Pick<Subscription, 'auto_renew'>): boolean {
  return subscription.auto_renew.toLowerCase() === 'true';
}

/** Whether a change is a tombstone, of a record that was removed. */
export function isRemoved(change: SubscriptionChange): change is RemovedSubscription {
  return 'removed' in change;
}
