import type { AuthKeyRow } from '../../storage/tables/auth-key.ts';

/** How long verifiers may cache the key set, in seconds: `max-age` of `/oauth2/jwks`. */
export const keySetSeconds = 300;

/**
 * Time between publishing a key and using it, in seconds: by then every cached key set contains it.
 */
export const keyLeadSeconds = keySetSeconds + 60;

/** Allowed clock difference in seconds. */
export const clockSeconds = 60;

/** Lifetimes of the tokens that a key makes, by its purpose, in seconds. */
export interface KeyLifetimes {
  readonly access: number;
  readonly refresh: number;
}

/**
 * The state of a key at a given time.
 * - `next`: published, but not used yet;
 * - `current`: used for new tokens;
 * - `retiring`: tokens made with it may still be valid;
 * - `dead`: no valid token depends on it.
 */
export type KeyState = 'next' | 'current' | 'retiring' | 'dead';

interface ScheduledKey<T> {
  readonly key: T;
  readonly state: KeyState;
  /**
   * When the last token made with it expires, in UTC epoch seconds; `null` while it has no
   * successor.
   */
  readonly endsAt: number | null;
}

/**
 * Returns the state of each key of one purpose, given newest first. A key is replaced as soon as
 * any newer one becomes active.
 */
export function scheduleKeys<T extends Pick<AuthKeyRow, 'purpose' | 'activatesAt'>>(
  keys: readonly T[],
  lifetimes: KeyLifetimes,
  nowSeconds: number,
): readonly ScheduledKey<T>[] {
  const active = keys.findIndex(({ activatesAt }) => activatesAt <= nowSeconds);
  // no key is active by this clock: the oldest, which other processes use already
  const current = active < 0 ? keys.length - 1 : active;
  return keys.map((key, index) => {
    const replacedAt = Math.min(...keys.slice(0, index).map(({ activatesAt }) => activatesAt));
    const endsAt = index === 0 ? null : replacedAt + lifetimes[key.purpose] + clockSeconds;
    if (index < current) return { key, state: 'next', endsAt };
    if (index === current) return { key, state: 'current', endsAt };
    return { key, state: endsAt !== null && endsAt <= nowSeconds ? 'dead' : 'retiring', endsAt };
  });
}
