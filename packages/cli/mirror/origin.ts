import { Api } from '../../client/api.ts';
import { type Clock, systemClock } from '../../client/clock.ts';
import { RejectionError, SubreportError, TokenRequestError } from '../../client/error.ts';
import type { RequestOptions } from '../../client/options.ts';
import { formatError, readText } from '../../client/read-response.ts';
import { Sender } from '../../client/sender.ts';
import { TokenSource } from '../../client/token-source.ts';
import { BoundsError, type JsonBounds, parseJson, RepeatedError } from '../../contract/json-object.ts';
import { shorten } from '../../contract/problem.ts';
import { Product } from '../../contract/product.ts';
import { reportPaths } from '../../contract/report.ts';
import { Subscription } from '../../contract/subscription.ts';
import { printable } from '../../terminal/printable.ts';
import { MirrorError } from './error.ts';

/** A server of the published API, and a client of it. */
interface OriginOptions extends Pick<RequestOptions, 'fetch' | 'allowHttp' | 'userAgent'> {
  /** Base URL of the API, including `/connect-api`. */
  readonly baseUrl: string;
  /** The token endpoint; by default that of the metadata of the server. */
  readonly tokenUrl?: string | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A record as the origin sent it; only its id is certain. */
export type OriginRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** Parameters of the report. */
export type PageQuery = Readonly<Partial<Record<'iccid' | 'after' | 'before', string>>> & {
  readonly size?: number | undefined;
  readonly page?: number | undefined;
};

/** A response: records, or a rejection of the parameters. */
export interface Reading {
  readonly records: readonly OriginRecord[];
  /** Whether the origin rejected the parameters (400, 404, 416 or 422). */
  readonly isRejected: boolean;
  /** X-Total-Count, if it was sent. */
  readonly total: number | undefined;
  /** The clock of the origin, UTC epoch seconds; ours if it sends no `Date`. */
  readonly dateSeconds: number;
}

/** The members of a record as a tenant loads it. An origin may add others. */
const recordMembers: ReadonlySet<string> = new Set([...Object.keys(Subscription.properties), 'email']);
const productMembers: ReadonlySet<string> = new Set(Object.keys(Product.properties));
/** Most names of other members that are remembered. */
const leftOutMax = 20;

/** Deepest nesting and most values of a page: 10,000 records with 50 values each. */
const pageBounds: JsonBounds = { depthMax: 16, valuesMax: 500_000 };

/** Rejections that are about the parameters. */
const rejections = [400, 404, 416, 422];
/** Maximum attempts of a request that gets a fault or no response. */
const attemptsMax = 6;
const firstPauseMs = 1_000;
const pauseMsMax = 60_000;
/** A pause that a server asks for is at most this long; it may ask again. */
const retryAfterMsMax = 900_000;
/**
 * After a 429, the time between two requests grows by this factor, to at most a minute; after five
 * minutes without a 429 it shrinks again.
 */
const slowdown = 1.5;
const quietMs = 300_000;

/**
 * Reads pages of the origin, one after another and at most `perMinute` a minute. A response that is
 * not a JSON array of records with ids is a fault, and requested again; it is never data.
 */
export class Origin {
  readonly clock: Clock;
  readonly #api: Api;
  readonly #signal: AbortSignal | undefined;
  readonly #perMinuteMax: number;
  #perMinute: number;
  #quietSince: number;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Requests of pages, and faults among their responses, since the start. */
  requests = 0;
  faults = 0;
  /** Members of the origin's records that are not copied, because a record has no such member. */
  readonly leftOut = new Set<string>();

  /** @param perMinute requests a minute at most @param slowedTo those to begin with */
  constructor(options: OriginOptions, perMinute: number, slowedTo?: number) {
    const { baseUrl, tokenUrl, clock: given, signal, ...client } = options;
    const clock = given ?? systemClock;
    const endpoint = tokenUrl === undefined ? { issuer: baseUrl.replace(/\/connect-api\/?$/, '') } : { tokenUrl };
    this.clock = clock;
    this.#signal = signal;
    this.#perMinuteMax = perMinute;
    this.#perMinute = Math.min(perMinute, slowedTo ?? perMinute);
    this.#quietSince = clock.now();
    const tokens = new TokenSource({ ...client, ...endpoint }, clock);
    this.#api = new Api(baseUrl, new Sender({ ...client, attempts: 1 }, clock), tokens);
  }

  /** Requests a minute while slowed down by 429; `null` at full speed. */
  get slowedTo(): number | null {
    return this.#perMinute < this.#perMinuteMax ? this.#perMinute : null;
  }

  /** Reads a page. Throws `MirrorError` if there is no usable response after several attempts. */
  async read(query: PageQuery): Promise<Reading> {
    for (let attempt = 1; ; ) {
      await this.#takeTurn();
      const outcome = await this.#attempt(query);
      if (!('fault' in outcome)) return outcome;
      const { fault, waitMs, isBusy = false } = outcome;
      if (!isBusy) attempt += 1;
      this.faults += 1;
      if (attempt > attemptsMax)
        throw new MirrorError(
          'ORIGIN_FAULT',
          `Cannot read the origin: it must respond with a JSON array of records that have ids: after ${attemptsMax} attempts, ${fault}`,
        );
      const backoffMs = Math.min(pauseMsMax, firstPauseMs * 2 ** (attempt - 1));
      await this.clock.sleep(waitMs ?? backoffMs, this.#signal);
    }
  }

  /** Waits until the next request may be sent. */
  async #takeTurn(): Promise<void> {
    const waitMs = this.#nextAt - this.clock.now();
    if (waitMs > 0) await this.clock.sleep(waitMs, this.#signal);
    if (this.clock.now() - this.#quietSince >= quietMs) {
      this.#perMinute = Math.min(this.#perMinuteMax, this.#perMinute * slowdown);
      this.#quietSince = this.clock.now();
    }
    this.#nextAt = this.clock.now() + 60_000 / this.#perMinute;
  }

  #slowDown(waitMs: number): void {
    this.#quietSince = this.clock.now() + waitMs;
    this.#perMinute = Math.max(1, this.#perMinute / slowdown);
  }

  async #attempt(query: PageQuery): Promise<Reading | Fault> {
    this.requests += 1;
    const call = this.#signal === undefined ? {} : { signal: this.#signal };
    try {
      return await this.#api.send(
        {
          path: reportPaths.listSubscriptions,
          query,
          read: async (response, context) => {
            const page = parsePage(await readText(response, context));
            if (page === undefined) throw formatError(response, 'JSON', context);
            return 'fault' in page ? page : this.#readingOf(page.body, response.headers);
          },
        },
        call,
      );
    } catch (error) {
      this.#signal?.throwIfAborted();
      return this.#judge(error);
    }
  }

  #knownOf(record: OriginRecord): OriginRecord {
    const known = this.#membersOf(record, recordMembers, '') as OriginRecord;
    const { product } = known;
    if (typeof product !== 'object' || product === null || Array.isArray(product)) return known;
    const members = this.#membersOf(product, productMembers, 'product.');
    return members === product ? known : { ...known, product: members };
  }

  #membersOf(object: object, known: ReadonlySet<string>, prefix: string): object {
    const others = Object.keys(object).filter((name) => !known.has(name));
    if (others.length === 0) return object;
    for (const name of others) if (this.leftOut.size < leftOutMax) this.leftOut.add(prefix + shorten(name, 64));
    return Object.fromEntries(Object.entries(object).filter(([name]) => known.has(name)));
  }

  #readingOf(body: unknown, headers: Headers): Reading | Fault {
    if (!Array.isArray(body)) return { fault: 'it is JSON, but no array' };
    const isRecord = (record: unknown): record is OriginRecord =>
      typeof (record as OriginRecord | null)?.id === 'string' && (record as OriginRecord).id !== '';
    if (!body.every(isRecord)) return { fault: 'an element has no id' };
    const total = headers.get('x-total-count');
    return {
      records: distinct(body).map((record) => this.#knownOf(record)),
      isRejected: false,
      total: total !== null && /^\d{1,15}$/.test(total) ? Number(total) : undefined,
      dateSeconds: this.#dateOf(headers),
    };
  }

  #dateOf(headers: Headers): number {
    const ms = Date.parse(headers.get('date') ?? '');
    return Math.floor((Number.isNaN(ms) ? this.clock.wallTime() : ms) / 1000);
  }

  /** Classifies an error: rejected parameters, a temporary fault, or a permanent one. */
  #judge(error: unknown): Reading | Fault {
    if (!(error instanceof SubreportError)) throw error;
    if (!(error instanceof RejectionError)) return { fault: printable(error.message) };
    const { status, retryAfterMs, headers } = error;
    const waitMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, retryAfterMsMax);
    if (status === 429) {
      this.#slowDown(waitMs ?? pauseMsMax);
      return { fault: 'status 429', waitMs: waitMs ?? pauseMsMax, isBusy: true };
    }
    const isOfTokens = error instanceof TokenRequestError;
    if (isOfTokens && ['invalid_client', 'unauthorized_client'].includes(error.code)) throw rejected(error);
    if (isOfTokens || !rejections.includes(status))
      return { fault: `status ${status}: ${printable(error.message)}`, waitMs };
    return { records: [], isRejected: true, total: undefined, dateSeconds: this.#dateOf(headers) };
  }
}

/** Parses a page; `undefined` if it is not JSON. */
function parsePage(text: string): { readonly body: unknown } | Fault | undefined {
  try {
    return { body: parseJson(text, pageBounds) };
  } catch (error) {
    if (error instanceof RepeatedError)
      return { fault: `a record has the member '${printable(error.path)}' repeatedly` };
    return error instanceof BoundsError ? { fault: `it must have ${error.rule}` } : undefined;
  }
}

/** Each record once, as it is last. */
function distinct(records: readonly OriginRecord[]): readonly OriginRecord[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return byId.size === records.length ? records : [...byId.values()];
}

const rejected = (error: Error): MirrorError =>
  new MirrorError(
    'ORIGIN_REJECTS',
    `Cannot read the origin: it must accept the client id and the secret of the profile: ${printable(error.message)}`,
    { cause: error },
  );

/** A response that is not data; `waitMs` is the pause that the origin asked for. */
interface Fault {
  readonly fault: string;
  readonly waitMs?: number | undefined;
  /** Whether the origin only asked for a pause: such an attempt does not count. */
  readonly isBusy?: boolean;
}
