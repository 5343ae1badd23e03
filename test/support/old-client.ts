/** The behaviour of an old client of the published v1, written from the specification alone. */
export interface OldClientOptions {
  readonly tokenUrl: string;
  readonly reportUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * Which refresh token it uses: that of its first token request while it is valid, or always the
   * newest.
   */
  readonly keeps: 'first' | 'newest';
  /** Lifetimes from the specification in milliseconds: 5 and 30 minutes there. */
  readonly accessMs: number;
  readonly refreshMs: number;
  /** Its own clock in milliseconds. */
  readonly nowMs: () => number;
}

/** Counts of an old client's requests. */
export interface OldClientCounts {
  calls: number;
  /** Report requests whose status was not 200. */
  failedCalls: number;
  tokenRequests: number;
  refreshes: number;
  /** Refreshes whose status was not 200. */
  refusedRefreshes: number;
}

interface Tokens {
  readonly access: string;
  readonly issuedMs: number;
  readonly refresh: string;
  readonly refreshIssuedMs: number;
}

/**
 * A client that reads the report repeatedly ("Authentication" items 1 to 8): it refreshes shortly
 * before its access token expires, and requests new tokens when a refresh is rejected or its
 * refresh token has expired.
 */
export class OldClient {
  readonly counts: OldClientCounts = { calls: 0, failedCalls: 0, tokenRequests: 0, refreshes: 0, refusedRefreshes: 0 };
  readonly #options: OldClientOptions;
  #tokens: Tokens | undefined;

  constructor(options: OldClientOptions) {
    this.#options = options;
  }

  /** Reads the report once, with a token that it considers valid. */
  async call(): Promise<number> {
    const { nowMs, accessMs, reportUrl } = this.#options;
    if (this.#tokens === undefined) await this.#authenticate();
    else if (nowMs() - this.#tokens.issuedMs >= accessMs * 0.8) await this.#refresh(this.#tokens);
    const response = await fetch(reportUrl, { headers: { authorization: `Bearer ${this.#tokens?.access}` } });
    await response.arrayBuffer();
    this.counts.calls += 1;
    if (response.status !== 200) this.counts.failedCalls += 1;
    return response.status;
  }

  async #authenticate(): Promise<void> {
    this.counts.tokenRequests += 1;
    const issuedMs = this.#options.nowMs();
    const { access, refresh } = await this.#post({ grant_type: 'client_credentials' });
    this.#tokens = { access, issuedMs, refresh, refreshIssuedMs: issuedMs };
  }

  async #refresh(stored: Tokens): Promise<void> {
    const { keeps, nowMs, refreshMs } = this.#options;
    const issuedMs = nowMs();
    if (issuedMs - stored.refreshIssuedMs >= refreshMs) return this.#authenticate();
    this.counts.refreshes += 1;
    const { status, access, refresh } = await this.#post({
      grant_type: 'refresh_token',
      refresh_token: stored.refresh,
    });
    if (status !== 200) {
      this.counts.refusedRefreshes += 1;
      return this.#authenticate();
    }
    this.#tokens =
      keeps === 'first' ? { ...stored, access, issuedMs } : { access, issuedMs, refresh, refreshIssuedMs: issuedMs };
  }

  async #post(grant: Record<string, string>): Promise<{ status: number; access: string; refresh: string }> {
    const { tokenUrl, clientId, clientSecret } = this.#options;
    const form = new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret });
    const response = await fetch(tokenUrl, { method: 'POST', body: form });
    const { access_token: access = '', refresh_token: refresh = '' } = (await response.json()) as Record<
      string,
      string
    >;
    return { status: response.status, access, refresh };
  }
}
