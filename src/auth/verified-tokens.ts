import { hash } from 'node:crypto';

/** Tokens that are kept at most; the one that was not sent for longest makes room. */
const keptMax = 10_000;

/** A check of tokens that remembers those it found good. */
export interface VerifiedTokens<T> {
  /** What a good token says; rejects as the check itself does. */
  readonly verify: (token: string) => Promise<T>;
  /** Forgets all verdicts: the keys they rest on are no longer the same. */
  readonly clear: () => void;
}

/** How good tokens are remembered. */
export interface Remembering<T> {
  /** How long after its end a token still counts, as clocks differ. */
  readonly toleranceSeconds: number;
  readonly now: () => number;
  /** Whether a verdict still counts, although its token lives: its key may be gone. */
  readonly stillTrusted?: (claims: T) => Promise<boolean>;
}

/**
 * Remembers good tokens, so that each is verified once and not at each request (verifying takes three quarters of a trivial request). Kept by the SHA-256
 * of the token, never the token itself, and no longer than it lives (`expiresAt` in UTC epoch seconds, and the tolerance).
 */
export function rememberVerified<T extends { readonly expiresAt: number }>(
  verify: (token: string) => Promise<T>,
  { toleranceSeconds, now, stillTrusted }: Remembering<T>,
): VerifiedTokens<T> {
  const verified = new Map<string, T>();
  return {
    async verify(token) {
      const key = hash('sha256', token, 'base64url');
      const known = verified.get(key);
      verified.delete(key); // it goes to the end, as the one that was sent last
      const lives = known !== undefined && known.expiresAt + toleranceSeconds > now();
      const counts = lives && (stillTrusted === undefined || (await stillTrusted(known)));
      const claims = counts ? known : await verify(token);
      if (verified.size >= keptMax) verified.delete(verified.keys().next().value ?? '');
      verified.set(key, claims);
      return claims;
    },
    clear: () => verified.clear(),
  };
}
