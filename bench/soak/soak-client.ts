import type { ClientCredentialsOnce } from '../../packages/service/auth/clients/manage-clients.ts';

/** Kinds of requests with their share in percent; the last one takes the rest. */
const shares = { page: 48, notModified: 23, token: 18, summary: 4, changes: 2, past: 1, load: 2, export: 2 } as const;
type Kind = keyof typeof shares;

const kinds = Object.keys(shares) as readonly Kind[];
/**
 * Age in milliseconds at which an access token is replaced: half of `ACCESS_TOKEN_SECONDS` in this
 * run.
 */
const tokenAgeMs = 30_000;
const report = '/connect-api/v1/subscription';
const formats = ['ndjson', 'csv', 'parquet'] as const;

/** Where the servers of a service listen, and what a client loads. */
export interface SoakedService {
  readonly origin: string;
  /** The operator's API. */
  readonly management: string;
  /** Rows to load as NDJSON, others each time. */
  readonly changedRows: () => string;
}

/** Number of responses by kind and status. */
export type Tally = Map<string, number>;

/**
 * A client of the soak: sends requests of all kinds, reads every response to its end, and counts
 * them.
 */
export class SoakClient {
  readonly #service: SoakedService;
  readonly #tenant: string;
  readonly #credentials: ClientCredentialsOnce;
  readonly #pages: number;
  readonly #tally: Tally;
  #token: { readonly access: string; readonly refresh: string; readonly since: number } | undefined;
  #etag: string | undefined;
  /** A revision that is soon a former one. */
  #revision: string | undefined;
  #sent = 0;

  /** `pages` is the number of pages of 50 records of its tenant. */
  constructor(service: SoakedService, tenant: string, credentials: ClientCredentialsOnce, pages: number, tally: Tally) {
    this.#service = service;
    this.#tenant = tenant;
    this.#credentials = credentials;
    this.#pages = pages;
    this.#tally = tally;
  }

  /** Sends one request of a random kind. */
  async send(): Promise<void> {
    let point = Math.random() * 100;
    const kind = kinds.find((each) => {
      point -= shares[each];
      return point < 0;
    });
    if (kind === 'token') return this.#renew();
    if (this.#token === undefined || performance.now() - this.#token.since > tokenAgeMs) await this.#renew();
    if (kind === 'load') await this.#load();
    else await this.#read(kind ?? 'export');
  }

  async #read(kind: Exclude<Kind, 'token' | 'load'>): Promise<void> {
    const format = formats[this.#sent++ % formats.length];
    const page = 1 + Math.floor(Math.random() * this.#pages);
    const path = {
      page: `${report}?size=50&page=${page}`,
      notModified: `${report}?size=50`,
      summary: `${report}/summary?by=status,month`,
      changes: `${report}/changes?size=100`,
      past: `${report}?all=true&format=${format}${this.#revision === undefined ? '' : `&as-of=${this.#revision}`}`,
      export: `${report}?all=true&format=${format}`,
    }[kind];
    const response = await fetch(this.#service.origin + path, {
      headers: {
        authorization: `Bearer ${this.#token?.access}`,
        ...(kind === 'notModified' && this.#etag !== undefined && { 'if-none-match': this.#etag }),
      },
    });
    await response.arrayBuffer();
    if (kind === 'notModified') this.#etag = response.headers.get('etag') ?? this.#etag;
    if (kind === 'summary' && this.#sent % 20 === 0) this.#revision = undefined;
    if (kind === 'summary') this.#revision ??= response.headers.get('x-revision') ?? undefined;
    this.#count(kind, response.status);
  }

  async #load(): Promise<void> {
    const url = `${this.#service.management}/operator/v1/tenants/${this.#tenant}/subscriptions`;
    const headers = { authorization: `Bearer ${this.#token?.access}`, 'content-type': 'application/x-ndjson' };
    const response = await fetch(url, { method: 'PUT', headers, body: this.#service.changedRows() });
    await response.arrayBuffer();
    this.#count('load', response.status);
  }

  /** Requests an access token, with its refresh token if it has one. */
  async #renew(): Promise<void> {
    const refresh = this.#token?.refresh;
    const grant =
      refresh === undefined
        ? { grant_type: 'client_credentials' }
        : { grant_type: 'refresh_token', refresh_token: refresh };
    const body = new URLSearchParams({ ...grant, ...this.#credentials });
    const response = await fetch(`${this.#service.origin}/oauth2/token`, { method: 'POST', body });
    const tokens = (await response.json()) as { access_token?: string; refresh_token?: string };
    this.#count('token', response.status);
    const { access_token: access, refresh_token: next } = tokens;
    this.#token =
      access === undefined || next === undefined ? undefined : { access, refresh: next, since: performance.now() };
  }

  #count(kind: Kind, status: number): void {
    const name = `${kind} ${status}`;
    this.#tally.set(name, (this.#tally.get(name) ?? 0) + 1);
  }
}
