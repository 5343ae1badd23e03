import { hash } from 'node:crypto';
import { BoundedMap } from '../storage/bounded-map.ts';
import type { AuthContext } from './auth-context.ts';
import { clockToleranceSeconds } from './verify-token.ts';

/**
 * A decision on a token: the one made before, if it still counts, and a way to remember a new one.
 */
interface Decision<T> {
  readonly known: T | undefined;
  /** Remembers what was decided; `expiresAt` of the token in UTC epoch seconds. */
  readonly keep: (decision: T, expiresAt: number) => void;
}

const bounds = { entriesMax: 10_000, bytesMax: 8_388_608 };

/**
 * Remembers what was decided on tokens for as long as nothing has changed that it could depend on:
 * keys, clients and revoked families are in the store, whose mark says so. So a token that is sent
 * again costs one hash. Kept by the SHA-256 of the token, no longer than it lives.
 */
export function createDecisionCache<T>({ store, now }: Pick<AuthContext, 'store' | 'now'>) {
  const decisions = new BoundedMap<{ readonly decision: T; readonly expiresAt: number }>(bounds);
  let decisionsMark: number | undefined;
  return (token: string): Decision<T> => {
    // before anything is read: a change meanwhile gives the next request another mark
    const mark = store.changeMark();
    if (mark === undefined || mark !== decisionsMark) decisions.clear();
    decisionsMark = mark;
    const key = hash('sha256', token, 'base64url');
    const kept = decisions.get(key);
    return {
      known: kept !== undefined && kept.expiresAt + clockToleranceSeconds > now() ? kept.decision : undefined,
      keep(decision, expiresAt) {
        // it may rest on what was there before the change
        if (mark === undefined || mark !== decisionsMark) return;
        decisions.set(key, { decision, expiresAt }, (expiresAt + clockToleranceSeconds - now()) * 1000);
      },
    };
  };
}
