import type { TokenErrorBody, TokenResponse } from '../contract/token.ts';
import { ConnectionError, TokenRequestError } from './error.ts';
import { send, type Transport } from './send.ts';

/** Token endpoint and credentials. */
interface TokenSourceOptions {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly transport: Transport;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface HeldToken {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Times on the clock of `now`: when to refresh, and when the tokens expire. */
  readonly refreshAt: number;
  readonly expiresAt: number;
  readonly refreshExpiresAt: number;
}

/**
 * A fraction of the lifetime rather than a fixed time, so that tokens with a short lifetime are not
 * refreshed immediately.
 */
const refreshShare = 0.2;
const refreshEarlyMsMax = 60_000;

/**
 * Provides a valid access token (`spec.md` "Authentication" item 8). Concurrent callers share one
 * token request. Shortly before it expires, the token is refreshed in the background; if the
 * refresh token is no longer valid, the credentials are used once.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #held: HeldToken | undefined;
  #pending: Promise<HeldToken> | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  /** Returns a valid access token. Throws `TokenRequestError` or `ConnectionError`. */
  async accessToken(): Promise<string> {
    const now = this.#options.now();
    const held = this.#held;
    if (held === undefined || now >= held.expiresAt) return (await this.#renew()).accessToken;
    // the token is still valid; the next caller without a valid token gets the error
    if (now >= held.refreshAt) this.#renew().catch(() => undefined);
    return held.accessToken;
  }

  /** Discards an access token that the service rejected, unless it was already replaced. */
  invalidate(accessToken: string): void {
    if (this.#held?.accessToken === accessToken) this.#held = { ...this.#held, expiresAt: Number.NEGATIVE_INFINITY };
  }

  #renew(): Promise<HeldToken> {
    this.#pending ??= this.#requestToken().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #requestToken(): Promise<HeldToken> {
    const { refreshToken, refreshExpiresAt = 0 } = this.#held ?? {};
    if (refreshToken !== undefined && this.#options.now() < refreshExpiresAt) {
      try {
        return await this.#post({ grant_type: 'refresh_token', refresh_token: refreshToken });
      } catch (error) {
        if (!(error instanceof TokenRequestError && error.code === 'invalid_grant')) throw error;
      }
    }
    return this.#post({ grant_type: 'client_credentials' });
  }

  async #post(grant: Record<string, string>): Promise<HeldToken> {
    const { tokenUrl, clientId, clientSecret, transport, now } = this.#options;
    const sentAt = now(); // lifetimes start before the request was sent
    const response = await send(transport, tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret }).toString(),
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw toTokenError(response, answer);
    this.#held = hold(answer as TokenResponse, sentAt);
    return this.#held;
  }
}

function hold(token: TokenResponse, sentAt: number): HeldToken {
  const lifetimeMs = token.expires_in * 1000;
  // spreads clients that started at the same time
  const early = Math.min(lifetimeMs * refreshShare, refreshEarlyMsMax) * (0.9 + Math.random() * 0.2);
  return {
    accessToken: token.access_token,
    refreshToken: token.refresh_token,
    refreshAt: sentAt + lifetimeMs - early,
    expiresAt: sentAt + lifetimeMs,
    refreshExpiresAt:
      token.refresh_expires_in > 0 ? sentAt + token.refresh_expires_in * 1000 : Number.POSITIVE_INFINITY,
  };
}

function toTokenError(response: Response, answer: unknown): Error {
  const { error, error_description: description } = (answer ?? {}) as Partial<TokenErrorBody>;
  if (error === undefined)
    return new ConnectionError(
      `Cannot get a token: the response of the token endpoint must follow RFC 6749: its status was ${response.status}`,
    );
  return new TokenRequestError(error as TokenRequestError['code'], description ?? error);
}
