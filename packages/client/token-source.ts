import { abortable, type Clock, systemClock } from './clock.ts';
import { type TokenUrls, tokenUrlsOf } from './discover.ts';
import { RejectionError, TokenRequestError } from './error.ts';
import { type HeldToken, hold, holdResponse, type TokenResponse } from './held-token.ts';
import type { CallOptions, TokenSourceOptions } from './options.ts';
import { formatError, readShortJson, readTokenError } from './read-response.ts';
import { type SafeRequest, Sender } from './sender.ts';
import type { StoredTokens } from './value-store.ts';

/** An access token. */
export interface AccessToken {
  readonly accessToken: string;
  /** When it expires, by the system clock. */
  readonly expiresAt: Date;
  readonly scope: string | undefined;
}

/** Throws `TypeError` with every credential that is missing, such as an unset variable. */
function requireCredentials({ clientId, clientSecret }: TokenSourceOptions): void {
  const variables = Object.entries({
    clientId: [clientId, 'CLIENT_ID'],
    clientSecret: [clientSecret, 'CLIENT_SECRET'],
  });
  const missing = variables.filter(([, [value]]) => !value);
  if (missing.length === 0) return;
  const faults = missing.map(([name, [, variable]]) => `${name} must be given: is ${variable} set?`);
  throw new TypeError(`Cannot request tokens: ${faults.join('; ')}`);
}

/** Delays after rejected credentials and after a failed renewal in the background. */
const pauseMs = { rejected: 60_000, failed: 5_000 };

/**
 * Provides a valid access token. Concurrent callers share one token request. Before the token
 * expires, it is renewed in the background while the old one is still used. If the refresh token is
 * no longer valid, the credentials are used. After the token endpoint has rejected the credentials,
 * no token is requested for a minute.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  readonly #sender: Sender;
  readonly #clock: Clock;
  readonly #key: string;
  #urls: Promise<TokenUrls> | undefined;
  #held: HeldToken | undefined;
  #pending: Promise<HeldToken> | undefined;
  /** The rejection of the credentials, and until when no token is requested. */
  #rejection: TokenRequestError | undefined;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: TokenSourceOptions, clock: Clock = systemClock) {
    requireCredentials(options);
    this.#options = options;
    this.#clock = clock;
    this.#sender = new Sender(options, clock);
    this.#key = [options.issuer ?? options.tokenUrl, options.clientId, options.scope ?? ''].join(' ');
  }

  /** Returns a valid access token. Rejects with `TokenRequestError` or another `SubreportError`. */
  async token({ signal }: Pick<CallOptions, 'signal'> = {}): Promise<AccessToken> {
    const { stored } = await abortable(this.#valid(), signal);
    const { accessToken, expiresAt, scope } = stored;
    return { accessToken, expiresAt: new Date(expiresAt), scope };
  }

  /** Discards an access token that the service rejected, unless it was already replaced. */
  invalidate(accessToken: string): void {
    if (this.#held?.stored.accessToken === accessToken)
      this.#held = { ...this.#held, expiresAt: Number.NEGATIVE_INFINITY };
  }

  /** Revokes the tokens (RFC 7009), then removes them from the store. */
  async revoke(options: CallOptions = {}): Promise<void> {
    await this.#pending?.catch(() => undefined);
    const { refreshToken, accessToken } = ((await this.#load()) ?? this.#held)?.stored ?? {};
    const token = refreshToken ?? accessToken;
    if (token === undefined) return;
    const { revocationUrl } = await this.#endpoints();
    await this.#post(revocationUrl, { token }, options, readShortJson);
    this.#held = undefined;
    await this.#options.tokenStore?.save(undefined);
  }

  async #valid(): Promise<HeldToken> {
    const now = this.#clock.now();
    const held = this.#held;
    if (held === undefined || now >= held.expiresAt) return this.#renewExpired();
    if (now >= held.renewAt && now >= this.#pausedUntil) {
      this.#renew().catch(() => {
        // the current token is still valid; calls after its expiry report the error
        this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + pauseMs.failed);
      });
    }
    return held;
  }

  /** A renewal that was already in progress may return a token that has expired meanwhile. */
  async #renewExpired(): Promise<HeldToken> {
    const begunBefore = this.#pending !== undefined;
    const next = await this.#renew();
    return begunBefore && this.#clock.now() >= next.expiresAt ? this.#renew() : next;
  }

  #renew(): Promise<HeldToken> {
    if (this.#rejection !== undefined && this.#clock.now() < this.#pausedUntil) return Promise.reject(this.#rejection);
    this.#rejection = undefined;
    this.#pending ??= this.#nextToken()
      .catch((error: unknown) => {
        this.#pauseAfter(error);
        throw error;
      })
      .finally(() => {
        this.#pending = undefined;
      });
    return this.#pending;
  }

  #pauseAfter(error: unknown): void {
    if (!(error instanceof TokenRequestError)) return;
    if (error.code !== 'invalid_client' && error.code !== 'unauthorized_client') return;
    this.#rejection = error;
    this.#pausedUntil = this.#clock.now() + pauseMs.rejected;
  }

  /** The token that another process has stored, or a new one. */
  async #nextToken(): Promise<HeldToken> {
    const shared = await this.#load();
    const held = shared ?? this.#held;
    const isNewer = shared !== undefined && shared.stored.accessToken !== this.#held?.stored.accessToken;
    if (isNewer && this.#clock.now() < shared.renewAt) {
      this.#held = shared;
      return shared;
    }
    const next = await this.#request(held);
    this.#held = next;
    await this.#options.tokenStore?.save(next.stored);
    return next;
  }

  async #load(): Promise<HeldToken | undefined> {
    const stored = await this.#options.tokenStore?.load();
    return stored?.key === this.#key ? hold(stored, this.#clock.now(), this.#clock.wallTime()) : undefined;
  }

  async #request(held: HeldToken | undefined): Promise<HeldToken> {
    const { refreshToken } = held?.stored ?? {};
    if (held !== undefined && refreshToken !== undefined && this.#clock.now() < held.refreshExpiresAt) {
      try {
        return await this.#exchange({ grant_type: 'refresh_token', refresh_token: refreshToken }, held.stored);
      } catch (error) {
        // other servers reject a refresh token with bodies of their own
        const isRejected = error instanceof RejectionError && [400, 401].includes(error.status);
        if (!isRejected || (error instanceof TokenRequestError && error.code === 'invalid_client')) throw error;
      }
    }
    return this.#exchange({ grant_type: 'client_credentials' });
  }

  async #exchange(grant: Record<string, string>, previous?: StoredTokens): Promise<HeldToken> {
    const { tokenUrl } = await this.#endpoints();
    const { scope } = this.#options;
    const form = { ...grant, ...(scope !== undefined && { scope }) };
    return this.#post(tokenUrl, form, {}, async (response, context) => {
      const body = await readShortJson<TokenResponse>(response, context);
      if (typeof body?.access_token !== 'string')
        throw formatError(response, 'a token response (RFC 6749 section 5.1)', context);
      return holdResponse(this.#key, body, previous, context.sentAt, this.#clock);
    });
  }

  /** Finds the endpoints once; after a failure, the next call tries again. */
  #endpoints(): Promise<TokenUrls> {
    this.#urls ??= tokenUrlsOf(this.#options, this.#sender).catch((error: unknown) => {
      this.#urls = undefined;
      throw error;
    });
    return this.#urls;
  }

  #post<T>(url: string, form: Record<string, string>, options: CallOptions, read: SafeRequest<T>['read']): Promise<T> {
    const { clientId = '', clientSecret = '' } = this.#options;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret }).toString();
    const sent = [clientSecret, form.refresh_token, form.token].filter((value) => value !== undefined);
    const secrets = sent.flatMap((value) => [value, encodeURIComponent(value)]);
    const correlationId = this.#sender.correlationIdOf(options);
    return this.#sender.send(
      { url, headers, body, read, readRejection: (response, context) => readTokenError(response, context, secrets) },
      { ...options, correlationId },
    );
  }
}
