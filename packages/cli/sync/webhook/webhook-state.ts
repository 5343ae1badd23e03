import type { SQLInputValue } from 'node:sqlite';
import { SyncError } from '../source/error.ts';
import type { SourceIdentity } from '../source/read-source.ts';
import { StateFile, type StateKind } from '../source/state-file.ts';
import { shownEndpoint, type Webhook } from './webhook-options.ts';

/** The place of a webhook in the changes, and the health of its endpoint. */
export interface WebhookPlace extends SourceIdentity {
  readonly url: string;
  /** The change token that the next event begins with. */
  readonly token: string;
  readonly revision: number;
  /** Failed tries since the last success. */
  readonly failures: number;
  /** No try before this time, in milliseconds since 1970. */
  readonly retryAt: number;
  /** When the endpoint responded with 410, in milliseconds since 1970; 0 if it has not. */
  readonly disabledAt: number;
  readonly lastResult: string;
}

/** An event that has not been delivered. */
export interface PendingEvent {
  /** `webhook-id` of all its tries. */
  readonly id: string;
  readonly type: 'subscription.changes' | 'subscription.expiring';
  /** JSON of the event's data. */
  readonly data: string;
  /** When it was made, in milliseconds since 1970. */
  readonly createdAt: number;
}

/** An end of a subscription that has come within a threshold. */
interface Expiry {
  readonly eventId: string;
  readonly subscriptionId: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly thresholdSeconds: number;
  /** JSON of the event's data. */
  readonly data: string;
}

const kind: StateKind = {
  applicationId: 0x73727768,
  cannot: 'Cannot use',
  writers: 'of this webhook',
  schema: `create table webhook (
      only integer primary key check (only = 1), url text not null, service text not null, client_id text not null,
      token text not null, revision integer not null, failures integer not null default 0,
      retry_at integer not null default 0, disabled_at integer not null default 0, last_result text not null default ''
    ) strict;
    create table event (
      number integer primary key, id text not null unique, type text not null, data text not null,
      created_at integer not null, attempts integer not null default 0, is_delivered integer not null default 0,
      subscription_id text, expires_at integer, threshold_seconds integer, scan integer,
      unique (subscription_id, expires_at, threshold_seconds)
    ) strict;
    create index event_pending on event (attempts, number) where is_delivered = 0;`,
};

/** The state file of one webhook. Methods throw `SyncError` if the file fails. */
export class WebhookState {
  readonly #file: StateFile;

  private constructor(file: StateFile) {
    this.#file = file;
  }

  /** Opens the file for a run, and creates it if necessary. */
  static open = (file: string): WebhookState => new WebhookState(StateFile.open(file, kind));

  /** Reads the file and writes nothing; `undefined` if no run has created it. */
  static read = <T>(file: string, work: (state: WebhookState) => T): T | undefined =>
    StateFile.read(file, kind, (state) => work(new WebhookState(state)));

  /** Runs `work` in a transaction. */
  transact<T>(work: () => Promise<T> | T): Promise<T> {
    return this.#file.transact(work);
  }

  place(): WebhookPlace | undefined {
    const [row] = this.#all(
      `select url, service, client_id as clientId, token, revision, failures, retry_at as retryAt,
        disabled_at as disabledAt, last_result as lastResult from webhook`,
    );
    return row as WebhookPlace | undefined;
  }

  takePlace(place: Pick<WebhookPlace, 'url' | 'service' | 'clientId' | 'token' | 'revision'>): void {
    const { url, service, clientId, token, revision } = place;
    this.#all('insert into webhook (only, url, service, client_id, token, revision) values (1, ?, ?, ?, ?, ?)', [
      ...[url, service, clientId, token, revision],
    ]);
  }

  movePlace(token: string, revision: number): void {
    this.#all('update webhook set token = ?, revision = ?', [token, revision]);
  }

  /** Adds an event about changes. */
  addChanges({ id, data, createdAt }: Pick<PendingEvent, 'id' | 'data' | 'createdAt'>): void {
    this.#all(`insert into event (id, type, data, created_at) values (?, 'subscription.changes', ?, ?)`, [
      ...[id, data, createdAt],
    ]);
  }

  hasPendingChanges(): boolean {
    return this.#all(`select 1 from event where type = 'subscription.changes'`).length > 0;
  }

  /**
   * Adds the event of an expiry unless it is known, and remembers that this scan has found it.
   *
   * @param isTold whether it counts as delivered
   */
  addExpiry(expiry: Expiry, scan: number, isTold: boolean): void {
    const { eventId, subscriptionId, expiresAt, thresholdSeconds, data } = expiry;
    this.#all(
      `insert into event (id, type, data, created_at, is_delivered, subscription_id, expires_at, threshold_seconds, scan)
      values (?1, 'subscription.expiring', ?2, ?3, ?4, ?5, ?6, ?7, ?3)
      on conflict (subscription_id, expires_at, threshold_seconds) do update set scan = excluded.scan`,
      [eventId, data, scan, Number(isTold), subscriptionId, expiresAt, thresholdSeconds],
    );
  }

  /**
   * Drops the pending expiries that this scan has not found, which were renewed, erased or have
   * passed; and the delivered ones that have passed.
   */
  endScan(scan: number): void {
    this.#all(
      `delete from event where type = 'subscription.expiring'
      and ((is_delivered = 0 and scan <> ?1) or (is_delivered = 1 and expires_at <= ?1))`,
      [scan],
    );
  }

  /** Ends a wait until after `latest`, which no wait allows: the clock was ahead when it began. */
  endWaitAfter(latest: number): void {
    this.#all('update webhook set retry_at = 0 where retry_at > ?', [latest]);
  }

  /** The next event to try: one that has failed is behind the others. */
  nextEvent(now: number): PendingEvent | undefined {
    const [row] = this.#all(
      `select id, type, data, created_at as createdAt from event
      where is_delivered = 0 and coalesce(expires_at > ?, true) order by attempts, number limit 1`,
      [now],
    );
    return row as PendingEvent | undefined;
  }

  /** Number of events that are not delivered. */
  pending(now: number): number {
    const [row] = this.#all(
      'select count(*) as count from event where is_delivered = 0 and coalesce(expires_at > ?, true)',
      [now],
    );
    return (row as { readonly count: number }).count;
  }

  /**
   * Records that an event was delivered. The id of an expiry is kept, so that it is announced once.
   */
  delivered(id: string): void {
    this.#all(`delete from event where id = ? and type = 'subscription.changes'`, [id]);
    this.#all(`update event set is_delivered = 1 where id = ?`, [id]);
    this.#all(`update webhook set failures = 0, retry_at = 0, last_result = ''`);
  }

  /** Records a failed try, and when the endpoint is tried next. */
  failed(id: string, retryAt: number, result: string): void {
    this.#all('update event set attempts = attempts + 1 where id = ?', [id]);
    this.#all('update webhook set failures = failures + 1, retry_at = ?, last_result = ?', [retryAt, result]);
  }

  disable(at: number): void {
    this.#all('update webhook set disabled_at = ?', [at]);
  }

  /** Ends a wait, also after the endpoint was disabled. */
  enable(): void {
    this.#all(`update webhook set disabled_at = 0, failures = 0, retry_at = 0`);
  }

  close(): void {
    this.#file.close();
  }

  #all(sql: string, values: readonly SQLInputValue[] = []): readonly object[] {
    return this.#file.all(sql, ...values);
  }
}

/** Reads the state of a webhook, and its pending events; `undefined` before its first run. */
export function readWebhookStatus(
  webhook: Pick<Webhook, 'url' | 'state'>,
  source: SourceIdentity,
  now: number,
): (WebhookPlace & { readonly pending: number }) | undefined {
  return WebhookState.read(webhook.state, (state) => {
    const place = state.place();
    if (place === undefined) return undefined;
    requireSame(place, webhook, source);
    return { ...place, pending: state.pending(now) };
  });
}

/** Throws `SyncError` `OTHER_SOURCE` unless a state is that of this webhook and client. */
export function requireSame(
  { url, service, clientId }: WebhookPlace,
  { url: given, state }: Pick<Webhook, 'url' | 'state'>,
  source: SourceIdentity,
): void {
  if (url === given.href && service === source.service && clientId === source.clientId) return;
  throw new SyncError(
    'OTHER_SOURCE',
    `Cannot continue from '${state}': it must be the state of the same webhook, client and service; name another file, such as --state webhook-2.db: current value is that of ${shownEndpoint(new URL(url))} for '${clientId}' of ${service}`,
  );
}

/** The error of an endpoint that has responded with 410. */
export const endpointGone = (url: URL, at: number): SyncError =>
  new SyncError(
    'DESTINATION_GONE',
    `Cannot deliver to ${shownEndpoint(url)}: it must not have responded with 410, which ends the deliveries; --enable begins them again where they ended: current value is 410 at ${new Date(at).toISOString()}`,
  );
