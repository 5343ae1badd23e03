import { hash } from 'node:crypto';
import { BoundedMap } from '../storage/bounded-map.ts';

/** Maximum size; the least recently used tokens are evicted. */
const bounds = { entriesMax: 10_000, bytesMax: 33_554_432 };

/** A check of tokens that caches the valid ones. */
interface VerifiedTokens<T> {
  /** Returns the claims of a valid token; rejects as the check itself does. */
  readonly verify: (token: string) => Promise<T>;
  /** Empties the cache: the keys have changed. */
  readonly clear: () => void;
}

/** How valid tokens are cached. */
interface CacheOptions<T> {
  /** How long an expired token is still accepted, as clocks differ. */
  readonly toleranceSeconds: number;
  readonly now: () => number;
  /**
   * Whether a cached result is still valid although its token has not expired: its key may be gone.
   */
  readonly stillTrusted?: (claims: T) => Promise<boolean>;
}

/**
 * Caches valid tokens, so that each is verified once and not per request (verification takes three
 * quarters of a trivial request). The key is the SHA-256 of the token. An entry expires with its
 * token (`expiresAt` in UTC epoch seconds, plus the tolerance).
 */
export function cacheVerified<T extends { readonly expiresAt: number }>(
  verify: (token: string) => Promise<T>,
  { toleranceSeconds, now, stillTrusted }: CacheOptions<T>,
): VerifiedTokens<T> {
  const verified = new BoundedMap<T>({ ...bounds, name: 'verified_tokens' });
  return {
    async verify(token) {
      const key = hash('sha256', token, 'base64url');
      const known = verified.get(key);
      const lives = known !== undefined && known.expiresAt + toleranceSeconds > now();
      const counts = lives && (stillTrusted === undefined || (await stillTrusted(known)));
      if (counts) return known;
      verified.delete(key); // its token has expired or is no longer trusted
      const claims = await verify(token);
      verified.set(key, claims, (claims.expiresAt + toleranceSeconds - now()) * 1000);
      return claims;
    },
    clear: () => verified.clear(),
  };
}
