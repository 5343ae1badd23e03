import { ConformError, cut, type Exchange, placeOf, type Requester } from './requester.ts';

/** A record as the server sent it; nothing about it is certain. */
export type SeenRecord = Readonly<Record<string, unknown>>;

/** A response of the report. */
export interface Page {
  /** The query string, without its `?`. */
  readonly query: string;
  readonly exchange: Exchange;
  /** Whether it is a JSON array with status 200. */
  readonly isPage: boolean;
  readonly records: readonly SeenRecord[];
  /** The ids of the records, as JSON. */
  readonly ids: readonly string[];
}

/** The pages of one size by number, up to `pagesMax`. */
export interface Walk {
  readonly size: number;
  readonly pages: readonly Page[];
  /** The first page without new records; `undefined` if there was none within `pagesMax`. */
  readonly after: Page | undefined;
  /** Whether the pages are all of the account, if the server numbers its pages correctly. */
  readonly isComplete: boolean;
}

const pagesMax = 10;
/** Sizes of pages, of which the first one that the server accepts is used. */
const sizes = [100, 50, 20, 10];
/** Access tokens are valid for 5 minutes. */
const tokenMs = 240_000;

/** Facts about the server and the records of the client, each read when it is needed. */
export class Account {
  readonly requester: Requester;
  /** The response with the first access token. */
  readonly firstToken: Exchange;
  /** The report without parameters. */
  readonly firstPage: Page;
  /** The first response, to a request without optional headers. */
  readonly bare: Page;
  #token: string;
  #tokenUntil = Date.now() + tokenMs;
  readonly #known = new Map<string, Promise<unknown>>();

  private constructor(requester: Requester, firstToken: Exchange, token: string, firstPage: Page, bare: Page) {
    this.bare = bare;
    this.requester = requester;
    this.firstToken = firstToken;
    this.#token = token;
    this.firstPage = firstPage;
  }

  /** Requests a token and a page. Throws `ConformError` if there is nothing to check. */
  static async open(requester: Requester): Promise<Account> {
    const firstToken = await requester.postToken({ grant_type: 'client_credentials' });
    const token = accessTokenOf(firstToken);
    if (token === undefined) throw noToken(requester.target.tokenUrl, firstToken);
    const bare = pageOf('', await requester.get('/v1/subscription', token));
    const firstPage = bare.isPage ? bare : await pageWithHeaders(requester, token);
    if (firstPage === undefined) throw noReport(`${requester.target.baseUrl}/v1/subscription`, bare.exchange);
    return new Account(requester, firstToken, token, firstPage, bare);
  }

  /** Reads the account again and discards what was read before. */
  async refresh(): Promise<Account> {
    const token = await this.token();
    const firstPage = pageOf('', await this.requester.get('/v1/subscription', token));
    const again = new Account(this.requester, this.firstToken, token, firstPage, this.bare);
    again.#tokenUntil = this.#tokenUntil;
    return again;
  }

  /** A valid access token; one is requested every four minutes. */
  async token(): Promise<string> {
    if (Date.now() < this.#tokenUntil) return this.#token;
    const exchange = await this.requester.postToken({ grant_type: 'client_credentials' });
    const token = accessTokenOf(exchange);
    if (token === undefined) throw noToken(this.requester.target.tokenUrl, exchange);
    this.#tokenUntil = Date.now() + tokenMs;
    this.#token = token;
    return token;
  }

  /** Runs a task once and returns its result to every caller. */
  once<T>(name: string, task: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name) ?? task();
    this.#known.set(name, known);
    return known as Promise<T>;
  }

  /** Requests a page. */
  async read(query: string, headers?: Readonly<Record<string, string>>): Promise<Page> {
    return pageOf(query, await this.requester.get(`/v1/subscription?${query}`, await this.token(), headers));
  }

  /** Requests the page of a URL below the base URL. */
  async readUrl(url: string): Promise<Page> {
    return pageOf(url, await this.requester.get(url, await this.token()));
  }

  /** Requests a page once. */
  readOnce(query: string): Promise<Page> {
    return this.once(query, () => this.read(query));
  }

  /** Whether the account has enough records to distinguish pages. */
  get hasPages(): boolean {
    return this.firstPage.records.length > 1;
  }

  /** The number of the first page; `undefined` if neither 1 nor 0 is. */
  async firstNumber(): Promise<0 | 1 | undefined> {
    const { ids } = await this.readOnce('size=1');
    for (const number of [1, 0] as const)
      if (sameIds((await this.readOnce(`size=1&page=${number}`)).ids, ids)) return number;
    return undefined;
  }

  /** A large page, and the `size` that was requested. */
  largePage(): Promise<{ readonly size: number; readonly page: Page }> {
    return this.once('large page', async () => {
      for (const size of sizes) {
        const page = await this.readOnce(`size=${size}`);
        if (page.isPage) return { size, page };
      }
      return { size: this.firstPage.records.length, page: this.firstPage };
    });
  }

  /** The pages of the account, at least three if it has as many records. */
  walk(): Promise<Walk> {
    return this.once('walk', () => this.#readPages());
  }

  async #readPages(): Promise<Walk> {
    const first = await this.firstNumber();
    if (first === undefined) return { size: 0, pages: [this.firstPage], after: undefined, isComplete: false };
    const { size: most, page: large } = await this.largePage();
    const size = large.records.length < most ? Math.max(1, Math.ceil(large.records.length / 4)) : most;
    const pages: Page[] = [];
    const seen = new Set<string>();
    for (let number = first; number < first + pagesMax; number += 1) {
      const page = await this.read(`size=${size}&page=${number}`);
      const isNew = page.ids.some((id) => !seen.has(id));
      // a page that is full and comes again: the server may ignore the number
      const isComplete = pages.length !== 1 || (pages[0]?.ids.length ?? 0) < size;
      if (!isNew) return { size, pages, after: page, isComplete };
      for (const id of page.ids) seen.add(id);
      pages.push(page);
    }
    return { size, pages, after: undefined, isComplete: false };
  }

  /** Records of the account, each id once; all of them if the walk is complete. */
  async known(): Promise<readonly SeenRecord[]> {
    const pages = [this.firstPage, ...(await this.walk()).pages];
    return [...new Map(pages.flatMap(({ ids, records }) => records.map((record, at) => [ids[at], record]))).values()];
  }

  /** The records of some filters, and whether they are all that the server has. */
  async select(filters: string): Promise<{ readonly page: Page; readonly isWhole: boolean }> {
    const { size, page: large } = await this.largePage();
    const page = await this.readOnce(`size=${size}&page=${(await this.firstNumber()) ?? 1}&${filters}`);
    const isShortened = large.records.length < (await this.known()).length;
    return { page, isWhole: page.records.length < (isShortened ? large.records.length : size) };
  }
}

/** The optional request headers, with values as clients send them. */
export const optionalHeaders: Readonly<Record<string, () => string>> = {
  'Cache-Control': () => 'no-cache',
  'Content-Type': () => 'application/json',
  'X-Correlation-ID': () => crypto.randomUUID(),
};

/** The report of a server that demands an optional header, which all later requests have. */
async function pageWithHeaders(requester: Requester, token: string): Promise<Page | undefined> {
  const all = Object.entries(optionalHeaders).map(([name, value]) => ({ [name]: value() }));
  // first again without them: the server may have had a fault
  for (const headers of [{}, ...all, Object.assign({}, ...all) as Record<string, string>]) {
    const page = pageOf('', await requester.get('/v1/subscription', token, headers));
    if (!page.isPage) continue;
    requester.demanded = headers;
    return page;
  }
  return undefined;
}

/** The access token of a response; `undefined` if it has none. */
export function accessTokenOf({ status, json }: Exchange): string | undefined {
  const token = memberOf(json, 'access_token');
  return status === 200 && typeof token === 'string' && token !== '' ? token : undefined;
}

/** A member of a JSON object; `undefined` for any other value. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as SeenRecord)[name] : undefined;

export const sameIds = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id, at) => id === other[at]);

/** Describes a response: its status, and the number of its records. */
export function describePage({ exchange, isPage, records }: Page): string {
  if (!isPage) return `status ${exchange.status}${exchange.status === 200 ? ' without a JSON array' : ''}`;
  return `${records.length} record${records.length === 1 ? '' : 's'}`;
}

function pageOf(query: string, exchange: Exchange): Page {
  const isPage = exchange.status === 200 && Array.isArray(exchange.json);
  const items: unknown[] = isPage ? exchange.json : [];
  return {
    query,
    exchange,
    isPage,
    // other values have no member of a record, which the checks of records report
    records: items.map((item) => (typeof item === 'object' && item !== null ? (item as SeenRecord) : {})),
    ids: items.map((item) => JSON.stringify(memberOf(item, 'id')) ?? ''),
  };
}

function noToken(url: string, exchange: Exchange): ConformError {
  const error = memberOf(exchange.json, 'error');
  const code = typeof error === 'string' ? ` ${cut(error, 64)}` : '';
  const rule =
    exchange.status >= 400 && exchange.status < 500
      ? 'the token endpoint must accept the client id and the secret'
      : 'the token endpoint must respond with JSON that has an access_token';
  return new ConformError(
    `Cannot check the server: ${rule}: ${placeOf(url)} responded with ${describe(exchange)}${code}`,
  );
}

const noReport = (url: string, exchange: Exchange): ConformError =>
  new ConformError(
    `Cannot check the server: the report must be a JSON array: ${url} responded with ${describe(exchange)}`,
  );

/** The status and the media type of a response. */
function describe({ status, headers }: Exchange): string {
  const type = headers.get('content-type')?.split(';')[0];
  return `${status}${type === undefined ? '' : ` ${type}`}`;
}
