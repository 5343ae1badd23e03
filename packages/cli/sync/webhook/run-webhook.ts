import { createHash, randomUUID } from 'node:crypto';
import { ApiError, type CallOptions, isRemoved, type Subscription } from '../../../client/index.ts';
import { SyncError } from '../source/error.ts';
import { currentPosition, linesOf, revisionOf, type Source } from '../source/read-source.ts';
import { shownEndpoint, type Webhook } from './webhook-options.ts';
import { sendEvent } from './webhook-request.ts';
import { endpointGone, type PendingEvent, requireSame, type WebhookPlace, WebhookState } from './webhook-state.ts';

/** The result of a sync to a webhook. */
interface WebhookResult {
  /** Number of events that the endpoint has accepted. */
  readonly delivered: number;
  /** Number of events that wait for the time of their next try. */
  readonly pending: number;
  /** The revision up to which changes were reported. */
  readonly revision: number;
  /** Whether this was the first run, which only records the current position. */
  readonly isFirst: boolean;
}

interface WebhookRunOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970; replaceable by tests. */
  readonly now?: () => number;
  /** Time limit of one try, in milliseconds. */
  readonly tryMsMax?: number;
}

/**
 * Tells an endpoint once that the report has changed, and which subscriptions end soon. Each event
 * is in the state file before it is sent, and stays there until the endpoint has accepted it.
 * Throws `SyncError` `DELIVERY_PENDING` if a try failed, `DESTINATION_GONE` if the endpoint has
 * responded with 410. A run before the time of the next try sends nothing, and has not failed.
 */
export async function runWebhook(
  source: Source,
  webhook: Webhook,
  options: WebhookRunOptions = {},
): Promise<WebhookResult> {
  const state = WebhookState.open(webhook.state);
  try {
    return await new WebhookRun(source, webhook, state, options).run();
  } finally {
    state.close();
  }
}

/** Delays before the next try of a failed event: Standard Webhooks 1.0, then once a day. */
const waitSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
const waitMsMax = 86_400_000;

/** The wait after this many failed tries, with jitter of a fifth, in milliseconds. */
const waitMs = (failures: number): number =>
  (waitSeconds[Math.min(failures, waitSeconds.length) - 1] ?? 0) * 1_000 * (0.8 + 0.4 * Math.random());

class WebhookRun {
  readonly #source: Source;
  readonly #webhook: Webhook;
  readonly #state: WebhookState;
  readonly #options: WebhookRunOptions;
  readonly #now: () => number;
  readonly #call: CallOptions;
  #delivered = 0;
  #hasFailed = false;

  constructor(source: Source, webhook: Webhook, state: WebhookState, options: WebhookRunOptions) {
    [this.#source, this.#webhook, this.#state, this.#options] = [source, webhook, state, options];
    this.#now = options.now ?? Date.now;
    this.#call = options.signal === undefined ? {} : { signal: options.signal };
  }

  async run(): Promise<WebhookResult> {
    const place = this.#state.place();
    if (place === undefined) return this.#takePlace();
    requireSame(place, this.#webhook, this.#source);
    if (this.#webhook.isEnabledAgain) await this.#state.transact(() => this.#state.enable());
    else if (place.disabledAt > 0) throw endpointGone(this.#webhook.url, place.disabledAt);
    await this.#state.transact(() => {
      this.#state.endWaitAfter(this.#now() + waitMsMax * 1.2);
      return this.#scanExpiries(false);
    });
    await this.#deliver();
    // one event about changes at a time: the next one covers all changes since
    if (!this.#state.hasPendingChanges() && (await this.#readChanges())) await this.#deliver();
    const pending = this.#state.pending(this.#now());
    if (this.#hasFailed) throw this.#isPending(pending);
    return { delivered: this.#delivered, pending, revision: this.#placeNow().revision, isFirst: false };
  }

  /** Starts with the changes from now on, and what comes within a threshold from now on. */
  async #takePlace(): Promise<WebhookResult> {
    const { token, revision } = await currentPosition(this.#source.client, this.#call);
    const { service, clientId } = this.#source;
    await this.#state.transact(async () => {
      this.#state.takePlace({ url: this.#webhook.url.href, service, clientId, token, revision });
      await this.#scanExpiries(true);
    });
    return { delivered: 0, pending: 0, revision, isFirst: true };
  }

  /**
   * Finds what ends within a threshold. If several thresholds have passed, only the shortest one is
   * announced.
   */
  async #scanExpiries(isTold: boolean): Promise<void> {
    const { thresholds } = this.#webhook;
    const now = this.#now();
    for await (const { id, expirationDate } of this.#endingSoon(now)) {
      const expiresAt = Date.parse(expirationDate);
      const threshold = thresholds.find(({ seconds }) => expiresAt - now <= seconds * 1_000);
      if (threshold === undefined || expiresAt <= now) continue;
      const data = JSON.stringify({ id, expirationDate, threshold: threshold.name });
      const eventId = this.#expiryId(id, expirationDate, threshold.seconds);
      const expiry = { eventId, subscriptionId: id, expiresAt, thresholdSeconds: threshold.seconds, data };
      this.#state.addExpiry(expiry, now, isTold);
    }
    this.#state.endScan(now);
  }

  /** Yields what ends after this time and within the longest threshold, from one snapshot. */
  async *#endingSoon(now: number): AsyncGenerator<Subscription, void, undefined> {
    const { thresholds } = this.#webhook;
    if (thresholds.length === 0) return;
    const longest = thresholds.at(-1)?.seconds ?? 0;
    const filters = {
      'date-field': 'expiration',
      after: new Date(now),
      before: new Date(now + longest * 1_000 + 1),
      'auto-renew': false,
    } as const;
    const report = await this.#source.client.export(filters, { format: 'ndjson', ...this.#call });
    yield* recordsOf(report);
  }

  /** The same for the same expiry, even if the state file was lost. */
  #expiryId(...parts: readonly (string | number)[]): string {
    const { service, clientId } = this.#source;
    const text = JSON.stringify([service, clientId, this.#webhook.url.href, ...parts]);
    return `msg_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;
  }

  /** Adds an event about the changes since the last one. Returns whether there were any. */
  async #readChanges(): Promise<boolean> {
    const { token: since } = this.#placeNow();
    const id = `msg_${randomUUID()}`;
    const createdAt = this.#now();
    const found = await this.#countChanges(since);
    const { token, revision, ...counts } = found;
    const data = JSON.stringify({ ...counts, next: token, revision });
    const isChange = counts.reset === true || counts.upserted + counts.removed > 0;
    await this.#state.transact(() => {
      this.#state.movePlace(token, revision);
      if (isChange) this.#state.addChanges({ id, data, createdAt });
    });
    return isChange;
  }

  async #countChanges(since: string): Promise<ChangeCounts> {
    let [token, revision, upserted, removed] = [since, 0, 0, 0];
    try {
      for await (const page of this.#source.client.changes(since, this.#call)) {
        const gone = page.changes.filter(isRemoved).length;
        removed += gone;
        upserted += page.changes.length - gone;
        [token, revision] = [page.next, revisionOf(page)];
      }
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'RESYNC_REQUIRED')) throw error;
      return { reset: true, upserted: 0, removed: 0, ...(await currentPosition(this.#source.client, this.#call)) };
    }
    return { since, upserted, removed, token, revision };
  }

  /** Sends the events that are due, one at a time, until one fails. */
  async #deliver(): Promise<void> {
    for (;;) {
      const now = this.#now();
      const event = this.#placeNow().retryAt > now ? undefined : this.#state.nextEvent(now);
      if (event === undefined || !(await this.#try(event, now))) return;
    }
  }

  async #try(event: PendingEvent, now: number): Promise<boolean> {
    const body = bodyOf(event, this.#source.service, now);
    const message = { id: event.id, timestamp: Math.floor(now / 1_000), body };
    const result = await sendEvent(this.#webhook, message, this.#options.signal, this.#options.tryMsMax);
    const { status = 0, shown, retryAfterMs } = result;
    if (status >= 200 && status < 300) {
      await this.#state.transact(() => this.#state.delivered(event.id));
      this.#delivered += 1;
      return true;
    }
    if (status === 410) {
      await this.#state.transact(() => this.#state.disable(this.#now()));
      throw endpointGone(this.#webhook.url, this.#now());
    }
    this.#hasFailed = true;
    const asked = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, waitMsMax);
    const wait = asked ?? waitMs(this.#placeNow().failures + 1);
    await this.#state.transact(() => this.#state.failed(event.id, Math.ceil(this.#now() + wait), shown));
    return false;
  }

  #placeNow(): WebhookPlace {
    return this.#state.place() as WebhookPlace;
  }

  #isPending(count: number): SyncError {
    const { lastResult, retryAt } = this.#placeNow();
    const what = `${this.#delivered.toLocaleString('en')} events delivered, ${count.toLocaleString('en')} pending`;
    return new SyncError(
      'DELIVERY_PENDING',
      `Cannot deliver all events to ${shownEndpoint(this.#webhook.url)}: it must respond with 2xx; run the sync again at ${new Date(retryAt).toISOString()} or later: current value is ${lastResult}, ${what}`,
    );
  }
}

/** Changes after a token. */
interface ChangeCounts {
  /** The token to read from; absent if it is no longer valid, and everything must be read. */
  readonly since?: string;
  readonly reset?: boolean;
  readonly upserted: number;
  readonly removed: number;
  /** The token after them. */
  readonly token: string;
  readonly revision: number;
}

/**
 * The body of an event: CloudEvents 1.0, as structured JSON. The remaining time is computed for
 * each try.
 */
function bodyOf({ id, type, data: text, createdAt }: PendingEvent, source: string, now: number): string {
  const data = JSON.parse(text);
  const isExpiry = type === 'subscription.expiring';
  return JSON.stringify({
    specversion: '1.0',
    id,
    type,
    source,
    ...(isExpiry && { subject: data.id }),
    time: new Date(createdAt).toISOString(),
    datacontenttype: 'application/json',
    data: isExpiry ? { ...data, remainingSeconds: Math.floor((Date.parse(data.expirationDate) - now) / 1_000) } : data,
  });
}

/** Yields the records of an NDJSON export. */
async function* recordsOf(report: AsyncIterable<Uint8Array>): AsyncGenerator<Subscription, void, undefined> {
  for await (const lines of linesOf(report)) for (const line of lines) yield JSON.parse(line);
}
