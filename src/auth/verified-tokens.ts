import { hash } from 'node:crypto';
import { BoundedMap } from '../storage/bounded-map.ts';

/** Tokens that are kept at most; the one that was not sent for longest makes room. */
const bounds = { entriesMax: 10_000, bytesMax: 33_554_432 };

/** A check of tokens that remembers those it found good. */
interface VerifiedTokens<T> {
  /** What a good token says; rejects as the check itself does. */
  readonly verify: (token: string) => Promise<T>;
  /** Forgets all verdicts: the keys they rest on are no longer the same. */
  readonly clear: () => void;
}

/** How good tokens are remembered. */
interface Remembering<T> {
  /** How long after its end a token still counts, as clocks differ. */
  readonly toleranceSeconds: number;
  readonly now: () => number;
  /** Whether a verdict still counts, although its token lives: its key may be gone. */
  readonly stillTrusted?: (claims: T) => Promise<boolean>;
}

/**
 * Remembers good tokens, so that each is verified once and not at each request (verifying takes
 * three quarters of a trivial request). Kept by the SHA-256 of the token, never the token itself,
 * and no longer than it lives (`expiresAt` in UTC epoch seconds, and the tolerance).
 */
export function rememberVerified<T extends { readonly expiresAt: number }>(
  verify: (token: string) => Promise<T>,
  { toleranceSeconds, now, stillTrusted }: Remembering<T>,
): VerifiedTokens<T> {
  const verified = new BoundedMap<T>(bounds);
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
