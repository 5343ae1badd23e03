import { hash } from 'node:crypto';
import { FreshMap } from '../storage/fresh-map.ts';
import type { AuthContext } from './auth-context.ts';
import { clockToleranceSeconds } from './verify-token.ts';

/** The cached decision on a token, if it is still valid, and a way to cache a new one. */
interface Decision<T> {
  readonly known: T | undefined;
  /** Caches a decision; `expiresAt` of the token in UTC epoch seconds. */
  readonly keep: (decision: T, expiresAt: number) => void;
}

const bounds = { entriesMax: 10_000, bytesMax: 8_388_608 };

/**
 * Caches decisions on tokens until the store changes or the token expires: keys, clients and
 * revoked families are all in the store. So a repeated token costs one hash. The key is the SHA-256
 * of the token.
 */
export function createDecisionCache<T>({ store, now }: Pick<AuthContext, 'store' | 'now'>) {
  const decisions = new FreshMap<{ readonly decision: T; readonly expiresAt: number }>(store, {
    ...bounds,
    name: 'token_decisions',
  });
  return (token: string): Decision<T> => {
    // before anything is read: a change made meanwhile gives the next request another change mark
    const changeMark = decisions.refresh();
    const cacheKey = hash('sha256', token, 'base64url');
    const cached = decisions.get(cacheKey);
    return {
      known: cached !== undefined && cached.expiresAt + clockToleranceSeconds > now() ? cached.decision : undefined,
      keep(decision, expiresAt) {
        if (!decisions.isAt(changeMark)) return; // it may be based on rows from before the change
        decisions.set(cacheKey, { decision, expiresAt }, (expiresAt + clockToleranceSeconds - now()) * 1000);
      },
    };
  };
}
