import type { AuthKeyRow } from '../storage/tables/auth-key.ts';

/**
 * How long a key set may be kept by those who verify with it, in seconds: `max-age` of
 * `/oauth2/jwks`.
 */
export const keySetSeconds = 300;

/**
 * Time between the moment a key is published and the moment it is used, in seconds: by then every
 * kept key set has it.
 */
export const keyLeadSeconds = keySetSeconds + 60;

/** Time that clocks may differ by, in seconds. */
const clockSeconds = 60;

/** How long what was made with a key lives, by its purpose, in seconds. */
export interface KeyLifetimes {
  readonly access: number;
  readonly refresh: number;
}

/**
 * What a key is for at a moment.
 * - `next`: published, and used from its time on;
 * - `current`: used for new tokens;
 * - `retiring`: tokens made with it are still good;
 * - `dead`: nothing depends on it.
 */
export type KeyState = 'next' | 'current' | 'retiring' | 'dead';

/** A key with its place in time. */
interface ScheduledKey<T> {
  readonly key: T;
  readonly state: KeyState;
  /**
   * When the last token made with it ends, in UTC epoch seconds; `null` while no key follows it.
   */
  readonly endsAt: number | null;
}

/** Puts the keys of one purpose, newest first, into their places in time. */
export function scheduleKeys<T extends Pick<AuthKeyRow, 'purpose' | 'activatesAt'>>(
  keys: readonly T[],
  lifetimes: KeyLifetimes,
  nowSeconds: number,
): readonly ScheduledKey<T>[] {
  const active = keys.findIndex(({ activatesAt }) => activatesAt <= nowSeconds);
  // none yet by this clock: the oldest, which others use already
  const current = active < 0 ? keys.length - 1 : active;
  return keys.map((key, index) => {
    const follower = keys[index - 1];
    const endsAt = follower === undefined ? null : follower.activatesAt + lifetimes[key.purpose] + clockSeconds;
    if (index < current) return { key, state: 'next', endsAt };
    if (index === current) return { key, state: 'current', endsAt };
    return { key, state: endsAt !== null && endsAt <= nowSeconds ? 'dead' : 'retiring', endsAt };
  });
}
