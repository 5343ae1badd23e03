import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Subscription } from '../../packages/contract/subscription.ts';

/** What the specification leaves open, and what goes wrong. Rates are per response. */
export interface Mood {
  readonly firstPage: 0 | 1;
  readonly order: 'oldest first' | 'newest first' | 'none';
  readonly afterLastPage: 'empty' | 'last page' | 'first page' | 'rejected';
  readonly sizeMax: number;
  readonly rejectsLargerSize: boolean;
  readonly sendsTotal: boolean;
  readonly isInclusive: boolean;
  readonly dateField: 'createdDate' | 'activationDate' | 'expirationDate';
  readonly showsNullStatus: boolean;
  /** Seconds that the origin's clock is ahead of ours. */
  readonly skewSeconds: number;
  readonly tokenSeconds: number;
  /** Requests a minute before 429 with Retry-After. */
  readonly perMinute: number;
  /** Changes of the data per request. */
  readonly changes: number;
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
  /**
   * A page that is always missing: it is empty, or the one before, or all pages end before it;
   * `cut`: they do, and the page before it lacks a record.
   */
  readonly lostPage?: { readonly number: number; readonly as: 'empty' | 'repeated' | 'end' | 'cut' } | undefined;
  /** Pages from this one on, counted from 0, are a 400, or empty, or the page before it. */
  readonly pageLimit?: { readonly pages: number; readonly as: 'rejected' | 'empty' | 'repeated' } | undefined;
  readonly ignoresPage?: boolean;
  /** Records that no response shows, as in an outage that answers 200. */
  readonly hides?: ((record: Subscription) => boolean) | undefined;
  /** Records that the report lacks, although reads by ICCID and date return them. */
  readonly unlists?: ((record: Subscription) => boolean) | undefined;
  /** Adds members that no published record has. */
  readonly addsMembers?: boolean;
  /** Each page has its first record twice. */
  readonly repeatsRecord?: boolean;
  /** The filter by ICCID works, is ignored, compares the first digits, or finds nothing. */
  readonly iccidFilter?: 'exact' | 'ignored' | 'prefix' | 'nothing';
  readonly ignoresBefore?: boolean;
  readonly ignoresAfter?: boolean;
  /** X-Total-Count is this much too large, or too small. */
  readonly totalError?: number;
  /** The total is that of the first response. */
  readonly keepsTotal?: boolean;
  readonly sendsNoDate?: boolean;
  /** 429 and its Retry-After: seconds, an HTTP date, or absent. */
  readonly retryAfter?: 'seconds' | 'date' | 'absent';
  readonly dates?: 'plain' | 'fraction' | 'offset';
  /** Reads by ICCID still show removed records. */
  readonly remembersRemoved?: boolean;
  /** Rate of responses that show the records of an earlier time. */
  readonly lags?: number;
}

/** What goes wrong with a response. */
export type Fault =
  | '5xx'
  | 'html'
  | 'object'
  | 'truncated'
  | 'short'
  | 'missing page'
  | 'repeated page'
  | 'refresh lost'
  | '401';

export const calm: Mood = {
  firstPage: 1,
  order: 'newest first',
  afterLastPage: 'empty',
  sizeMax: 1_000,
  rejectsLargerSize: false,
  sendsTotal: true,
  isInclusive: false,
  dateField: 'createdDate',
  showsNullStatus: false,
  skewSeconds: 0,
  tokenSeconds: 300,
  perMinute: 100_000,
  changes: 0,
  faults: {},
};

/** Milliseconds since 1970 of the origin's machine. */
type WallTime = () => number;

/** Numbers in [0, 1) from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A mood drawn at random: every combination of the above is possible. */
export function drawMood(random: () => number): Mood {
  const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const rate = () => (random() < 0.5 ? 0 : random() * 0.08);
  return {
    firstPage: pick(0, 1),
    order: pick('oldest first', 'newest first', 'oldest first', 'newest first', 'none'),
    afterLastPage: pick('empty', 'last page', 'first page', 'rejected'),
    sizeMax: pick(5, 7, 10, 20, 1_000),
    rejectsLargerSize: random() < 0.3,
    sendsTotal: random() < 0.5,
    isInclusive: random() < 0.5,
    dateField: pick('createdDate', 'createdDate', 'activationDate', 'expirationDate'),
    showsNullStatus: random() < 0.5,
    skewSeconds: pick(0, 0, -400, 400, 86_400),
    tokenSeconds: pick(300, 300, 20),
    perMinute: pick(20, 100_000, 100_000),
    changes: pick(0, 0.02, 0.1, 0.5),
    faults: {
      '5xx': rate(),
      html: rate(),
      truncated: rate(),
      short: rate(),
      'missing page': rate(),
      'repeated page': rate(),
      'refresh lost': rate() * 4,
      '401': rate() / 4,
    },
    lostPage:
      random() < 0.5 ? { number: Math.floor(random() * 5), as: pick('empty', 'repeated', 'end', 'cut') } : undefined,
    pageLimit:
      random() < 0.15 ? { pages: 1 + Math.floor(random() * 4), as: pick('rejected', 'empty', 'repeated') } : undefined,
    ignoresPage: random() < 0.05,
    addsMembers: random() < 0.2,
    repeatsRecord: random() < 0.1,
    iccidFilter: random() < 0.8 ? 'exact' : pick('ignored', 'prefix', 'nothing'),
    ignoresBefore: random() < 0.1,
    ignoresAfter: random() < 0.1,
    totalError: random() < 0.9 ? 0 : pick(-2, 2),
    keepsTotal: random() < 0.05,
    sendsNoDate: random() < 0.1,
    retryAfter: pick('seconds', 'seconds', 'date', 'absent'),
    dates: pick('plain', 'plain', 'fraction', 'offset'),
    remembersRemoved: random() < 0.1,
    lags: random() < 0.9 ? 0 : 0.1,
  };
}

export const originCredentials = { clientId: 'reader', clientSecret: 'w4Xv8Nb2Qk6Lm9Rt3Zp7Sd1Gf5Hj0Yc' };

/**
 * An origin of the published API that somebody else operates, over records that change. Everything
 * that is random follows from the seed.
 */
export class SimulatedOrigin {
  mood: Mood;
  readonly records = new Map<string, Subscription>();
  /** Token requests in progress, and the most at the same time. */
  tokenRequests = { now: 0, most: 0, refreshes: 0, grants: 0 };
  requests = 0;
  /** All records that there ever were, as they were last. */
  readonly past = new Map<string, Subscription>();
  readonly #random: () => number;
  readonly #prefix: string;
  #earlier: readonly Subscription[] = [];
  #firstTotal: number | undefined;
  readonly #wallTime: WallTime;
  #created = 0;
  #issued = 0;
  #minute = { number: 0, requests: 0 };
  #refreshToken = '';
  readonly #tokens = new Map<string, number>();
  #server: Server | undefined;

  constructor(seed: number, mood: Mood, count: number, wallTime: WallTime = Date.now, prefix = 'subscription') {
    this.mood = mood;
    this.#prefix = prefix;
    this.#random = randomOf(seed);
    this.#wallTime = wallTime;
    for (let at = 0; at < count; at += 1) this.add(Math.floor(this.#random() * 30 * 86_400) + 3_600);
  }

  /** Adds a record that was created some seconds ago; many have the same date. */
  add(secondsAgo = 0): Subscription {
    this.#created += 1;
    const number = this.#created;
    const at = Math.floor(this.#seconds() - secondsAgo);
    const created = secondsAgo > 3_600 ? at - (at % 7_200) : at;
    const record: Subscription = {
      id: Buffer.from(`${this.#prefix}-${String(number).padStart(6, '0')}`).toString('base64url'),
      status: number % 3 === 0 ? 'DEPLETED' : 'ACTIVE',
      activationDate: isoOf(created + 60),
      expirationDate: isoOf(created + 30 * 86_400),
      createdDate: isoOf(created),
      product: {
        id: number % 3 === 1 ? 'cHJvZHVjdC0y' : 'cHJvZHVjdC0x',
        name: 'Data 1 GB',
        period: 30,
        period_unit: 'DAYS',
        plan_id: 'cGxhbi0x',
      },
      iccid: `8988${String(simOf(number)).padStart(15, '0')}`,
      device_id: `device-${number}`,
      auto_renew: 'false',
    };
    this.#store(record);
    return record;
  }

  #store(record: Subscription): void {
    this.records.set(record.id, record);
    this.past.set(record.id, record);
  }

  /** Adds, changes or removes a record; exchanges the SIM of one, or brings a removed one back. */
  change(): void {
    const kind = this.#random();
    const ids = [...this.records.keys()];
    const id = ids[Math.floor(this.#random() * ids.length)];
    const record = id === undefined ? undefined : this.records.get(id);
    const removed = [...this.past.values()].filter((former) => !this.records.has(former.id));
    const back = removed[Math.floor(this.#random() * removed.length)];
    if (kind < 0.35 || record === undefined) this.add();
    else if (kind < 0.6) this.#store({ ...record, device_id: `device-${this.#random()}` });
    else if (kind < 0.7)
      this.#store({
        ...record,
        iccid: `8999${String(this.#created).padStart(6, '0')}${String(Math.floor(this.#random() * 1e9)).padStart(9, '0')}`,
      });
    else if (kind < 0.75 && back !== undefined) this.#store(back);
    else this.records.delete(record.id);
  }

  /** Responds to a request, as `fetch` does. */
  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const headers = new Headers(init?.headers);
    const date: Record<string, string> = this.mood.sendsNoDate
      ? {}
      : { date: new Date(this.#seconds() * 1000).toUTCString() };
    const from = (response: Response) => Object.defineProperty(response, 'url', { value: url.href });
    if (url.pathname !== '/token') return from(this.#serve(url, headers.get('authorization') ?? '', date));
    this.tokenRequests.now += 1;
    this.tokenRequests.most = Math.max(this.tokenRequests.most, this.tokenRequests.now);
    await Promise.resolve();
    const response = this.#issue(new URLSearchParams(String(init?.body ?? '')));
    this.tokenRequests.now -= 1;
    return from(response);
  };

  async listen(port = 0): Promise<string> {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const url = `http://${request.headers.host ?? 'localhost'}${request.url ?? '/'}`;
      const authorization = request.headers.authorization ?? '';
      const reply = await this.fetch(url, {
        headers: { authorization },
        body: Buffer.concat(chunks).toString(),
        method: 'POST',
      });
      response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(Buffer.from(await reply.arrayBuffer()));
    });
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  #issue(form: URLSearchParams): Response {
    const { clientId, clientSecret } = originCredentials;
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret)
      return Response.json({ error: 'invalid_client' }, { status: 401 });
    const isRefresh = form.get('grant_type') === 'refresh_token';
    this.tokenRequests[isRefresh ? 'refreshes' : 'grants'] += 1;
    if (isRefresh && form.get('refresh_token') !== this.#refreshToken)
      return Response.json({ error: 'invalid_grant' }, { status: 400 });
    this.#issued += 1;
    const access = `access-${this.#issued}`;
    this.#refreshToken = `refresh-${this.#issued}`;
    this.#tokens.set(access, this.#wallTime() + this.mood.tokenSeconds * 1000);
    if (isRefresh && this.#happens('refresh lost')) return new Response('bad gateway', { status: 502 });
    return Response.json({
      access_token: access,
      refresh_token: this.#refreshToken,
      token_type: 'Bearer',
      expires_in: this.mood.tokenSeconds,
      refresh_expires_in: 1_800,
    });
  }

  #serve(url: URL, authorization: string, date: Record<string, string>): Response {
    this.requests += 1;
    const minute = Math.floor(this.#wallTime() / 60_000);
    if (minute !== this.#minute.number) this.#minute = { number: minute, requests: 0 };
    this.#minute.requests += 1;
    if (this.#minute.requests > this.mood.perMinute)
      return new Response('slow down', { status: 429, headers: { ...date, ...this.#retryAfter() } });
    const until = this.#tokens.get(authorization.replace('Bearer ', ''));
    if (until === undefined || until <= this.#wallTime() || this.#happens('401'))
      return new Response('<h1>Unauthorized</h1>', { status: 401, headers: date });
    if (this.#random() < this.mood.changes) this.change();
    if (this.#happens('5xx')) return new Response('bad gateway', { status: 502, headers: date });
    if (this.mood.faults.object === 1) return Response.json({ message: 'try again' }, { headers: date });
    if (this.#happens('html'))
      return new Response('<html>Maintenance</html>', { headers: { ...date, 'content-type': 'text/html' } });
    return this.#report(url.searchParams, date);
  }

  #retryAfter(): Record<string, string> {
    const { retryAfter = 'seconds' } = this.mood;
    if (retryAfter === 'absent') return {};
    const date = new Date(this.#seconds() * 1000 + 20_000).toUTCString();
    return { 'retry-after': retryAfter === 'date' ? date : '20' };
  }

  #report(parameters: URLSearchParams, date: Record<string, string>): Response {
    const { firstPage, sizeMax, rejectsLargerSize, sendsTotal } = this.mood;
    const wanted = Number(parameters.get('size') ?? Math.min(20, sizeMax));
    const page = Number(parameters.get('page') ?? firstPage);
    if (!(wanted >= 1) || page < 0 || (rejectsLargerSize && wanted > sizeMax) || (firstPage === 1 && page === 0))
      return Response.json({ message: 'bad parameter' }, { status: 400, headers: date });
    const size = Math.min(wanted, sizeMax);
    const selected = this.#select(parameters);
    const records = this.#page(selected, page - firstPage, size, parameters);
    if (records === undefined) return Response.json({ message: 'no page' }, { status: 404, headers: date });
    const repeated = this.mood.repeatsRecord ? [...records.slice(0, 1), ...records] : records;
    const shown = repeated.map((record) => this.#shown(record));
    this.#firstTotal ??= selected.length;
    const total = (this.mood.keepsTotal ? this.#firstTotal : selected.length) + (this.mood.totalError ?? 0);
    const body = JSON.stringify(shown);
    const headers = {
      ...date,
      'content-type': 'application/json',
      ...(sendsTotal && { 'x-total-count': String(Math.max(0, total)) }),
    };
    return new Response(this.#happens('truncated') ? body.slice(0, -1 - Math.floor(this.#random() * 40)) : body, {
      headers,
    });
  }

  #shown(record: Subscription): object {
    const { showsNullStatus, addsMembers, dates = 'plain' } = this.mood;
    const end = { plain: 'Z', fraction: '.000Z', offset: '+00:00' }[dates];
    const written = (date: string) => date.replace('Z', end);
    return {
      ...record,
      createdDate: written(record.createdDate),
      activationDate: written(record.activationDate),
      expirationDate: written(record.expirationDate),
      ...(showsNullStatus && record.status === 'DEPLETED' && { status: null }),
      ...(addsMembers && { apn: 'iot', product: { ...record.product, zone: 2 } }),
    };
  }

  /** The records of a page, from 0; `undefined` if it is rejected. */
  #page(selected: readonly Subscription[], number: number, size: number, parameters: URLSearchParams) {
    const { afterLastPage, lostPage, pageLimit, ignoresPage } = this.mood;
    const isLimited = pageLimit !== undefined && number >= pageLimit.pages && !parameters.has('iccid');
    if (isLimited && pageLimit.as === 'rejected') return undefined;
    if (isLimited && pageLimit.as === 'empty') return [];
    const limited = isLimited ? pageLimit.pages - 1 : number;
    const at = ignoresPage ? 0 : limited;
    const cut = (index: number) => selected.slice(index * size, (index + 1) * size);
    const pages = Math.max(1, Math.ceil(selected.length / size));
    if (at >= pages) {
      if (afterLastPage === 'rejected') return undefined;
      if (afterLastPage === 'empty') return [];
      return cut(afterLastPage === 'last page' ? pages - 1 : 0);
    }
    // the lookup of one SIM, or a page without a number, does not pass the cache that is at fault
    if (parameters.has('iccid')) return cut(at);
    const ends = lostPage?.as === 'end' || lostPage?.as === 'cut';
    const isAt = ends ? lostPage.number <= at : lostPage?.number === at;
    if (lostPage?.as === 'cut' && lostPage.number - 1 === at && parameters.has('page')) return cut(at).slice(0, -1);
    if ((isAt && parameters.has('page')) || this.#happens('missing page'))
      return lostPage?.as === 'repeated' && at > 0 ? cut(at - 1) : [];
    if (at > 0 && this.#happens('repeated page')) return cut(at - 1);
    return this.#happens('short') ? cut(at).slice(0, -1) : cut(at);
  }

  #select(parameters: URLSearchParams): Subscription[] {
    const { isInclusive, dateField, order, hides, unlists, ignoresBefore, ignoresAfter, lags = 0 } = this.mood;
    const iccid = parameters.get('iccid');
    const before = ignoresBefore ? null : parameters.get('before');
    const after = ignoresAfter ? null : parameters.get('after');
    const isIn = (date: string, bound: string | null | undefined, sign: 1 | -1): boolean => {
      if (bound === null || bound === undefined) return true;
      const difference = (Date.parse(date) - Date.parse(bound)) * sign;
      return difference > 0 || (isInclusive && difference === 0);
    };
    const isLagging = lags > 0 && this.#random() < lags;
    const stored = isLagging ? this.#earlier : [...this.records.values()];
    if (lags > 0 && !isLagging && this.#random() < 0.1) this.#earlier = stored;
    const isAsked = ['iccid', 'before', 'after'].some((name) => parameters.has(name));
    const isRemembered = iccid !== null && this.mood.remembersRemoved === true;
    const selected = (isRemembered ? [...this.past.values()] : stored).filter(
      (record) =>
        hides?.(record) !== true &&
        (isAsked || unlists?.(record) !== true) &&
        (iccid === null || this.#hasIccid(record, iccid)) &&
        isIn(record[dateField], after, 1) &&
        isIn(record[dateField], before, -1),
    );
    const sorted = selected.toSorted((one, other) =>
      one.createdDate < other.createdDate ? -1 : one.createdDate > other.createdDate ? 1 : 0,
    );
    if (order === 'none')
      return sorted
        .map((record) => ({ record, mix: mixOf(record.id) }))
        .sort((one, other) => (one.mix < other.mix ? -1 : 1))
        .map(({ record }) => record);
    return order === 'newest first' ? sorted.toReversed() : sorted;
  }

  #hasIccid(record: Subscription, iccid: string): boolean {
    const { iccidFilter = 'exact' } = this.mood;
    if (iccidFilter === 'ignored') return true;
    if (iccidFilter === 'prefix') return record.iccid.startsWith(iccid.slice(0, -1));
    return iccidFilter === 'exact' && record.iccid === iccid;
  }

  #happens(fault: Fault): boolean {
    return this.#random() < (this.mood.faults[fault] ?? 0);
  }

  #seconds(): number {
    return this.#wallTime() / 1000 + this.mood.skewSeconds;
  }
}

/** An id as text without the order of its numbers. */
const mixOf = (id: string): string => [...id].toReversed().join('');

/** Some SIMs have two records, and one of 40 has more than a page of the smallest size. */
function simOf(number: number): number {
  if (number % 40 < 12) return number - (number % 40);
  return number % 4 === 0 ? number - 1 : number;
}

const isoOf = (seconds: number): string => new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z');
