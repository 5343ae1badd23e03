import type { Clock } from './clock.ts';
import type { StoredTokens } from './value-store.ts';

/** The used members of a token response (RFC 6749 §5.1; Keycloak adds `refresh_expires_in`). */
export interface TokenResponse {
  readonly access_token: string;
  readonly expires_in?: number | null;
  readonly refresh_token?: string;
  readonly refresh_expires_in?: number;
  readonly scope?: string;
}

/** Tokens with their times on the monotonic clock. */
export interface HeldToken {
  readonly stored: StoredTokens;
  /** When to request the next token in the background. */
  readonly renewAt: number;
  readonly expiresAt: number;
  /** Infinite if the token endpoint does not say. */
  readonly refreshExpiresAt: number;
}

/** A share of the lifetime, so that short-lived tokens are not renewed immediately. */
const earlyShare = 0.2;
const earlyMsMax = 60_000;

/** Seconds if the token endpoint does not state a lifetime, as RFC 6749 §5.1 permits. */
const lifetimeDefault = 60;

/**
 * Keeps a token response. Lifetimes start when the request was sent, before the token was issued.
 * A response without a refresh token leaves the previous one valid (RFC 6749 §6).
 */
export function holdResponse(
  key: string,
  response: TokenResponse,
  previous: StoredTokens | undefined,
  sentAt: number,
  clock: Clock,
): HeldToken {
  const sentAtWallTime = clock.wallTime() - (clock.now() - sentAt);
  const { expires_in: lifetime, refresh_token: refreshToken, refresh_expires_in: refreshLifetime = 0 } = response;
  const lifetimeMs = (lifetime ?? lifetimeDefault) * 1000; // another server may send null
  const renewed = refreshToken === undefined ? previous : undefined;
  const refreshExpiresAt = refreshLifetime > 0 ? sentAtWallTime + refreshLifetime * 1000 : undefined;
  return hold(
    {
      key,
      accessToken: response.access_token,
      scope: response.scope,
      refreshToken: refreshToken ?? renewed?.refreshToken,
      lifetimeMs,
      expiresAt: sentAtWallTime + lifetimeMs,
      refreshExpiresAt: renewed?.refreshExpiresAt ?? refreshExpiresAt,
    },
    sentAt,
    sentAtWallTime,
  );
}

/**
 * Keeps tokens, perhaps of another process. Their times are those of the system clock, which may
 * have been set back since: a token is never treated as valid for longer than its lifetime.
 */
export function hold(stored: StoredTokens, now: number, wallTime: number): HeldToken {
  const { lifetimeMs, refreshExpiresAt } = stored;
  const expiresAt = now + Math.min(stored.expiresAt - wallTime, lifetimeMs);
  // spreads clients that started at the same time
  const early = Math.min(lifetimeMs * earlyShare, earlyMsMax) * (0.9 + Math.random() * 0.2);
  return {
    stored,
    expiresAt,
    renewAt: expiresAt - early,
    refreshExpiresAt: refreshExpiresAt === undefined ? Number.POSITIVE_INFINITY : now + refreshExpiresAt - wallTime,
  };
}
