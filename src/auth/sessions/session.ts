import { hash, randomBytes } from 'node:crypto';
import type { SessionLimits } from '../auth-context.ts';
import type { SessionErrorCode } from '../error.ts';

/** Times of a session in UTC epoch seconds. */
interface SessionTimes {
  readonly usedAt: number;
  /** When it ends unless it is used. */
  readonly expiresAt: number;
  /** When it ends, however often it is used. */
  readonly capAt: number;
}

/** A use is recorded at most once in this time, so that not every request writes to the store. */
const recordedEverySeconds = 60;

/** The times of a session that begins at `startedAt`. */
export function startTimes(startedAt: number, { sessionIdleSeconds, sessionSeconds }: SessionLimits): SessionTimes {
  const capAt = startedAt + sessionSeconds;
  return { usedAt: startedAt, expiresAt: Math.min(startedAt + sessionIdleSeconds, capAt), capAt };
}

/** Why a session has ended by its times, or `undefined`. */
export function endOf({ expiresAt, capAt }: SessionTimes, nowSeconds: number): SessionErrorCode | undefined {
  if (capAt <= nowSeconds) return 'OLD';
  return expiresAt <= nowSeconds ? 'IDLE' : undefined;
}

/**
 * The times of a session after its use, or `undefined` if a use was recorded a moment ago. With an
 * idle time below four minutes, uses are recorded more often: at least a quarter of it must pass.
 */
export function timesAfterUse(
  { usedAt, capAt }: SessionTimes,
  nowSeconds: number,
  { sessionIdleSeconds }: SessionLimits,
): SessionTimes | undefined {
  if (nowSeconds - usedAt < Math.min(recordedEverySeconds, sessionIdleSeconds / 4)) return undefined;
  return { usedAt: nowSeconds, expiresAt: Math.min(nowSeconds + sessionIdleSeconds, capAt), capAt };
}

/** Generates the id of a session: 256 random bits in base64url, 43 characters. */
export const generateSessionId = (): string => randomBytes(32).toString('base64url');

/**
 * Hashes the id of a session for the store. SHA-256 is enough: 256 random bits cannot be guessed,
 * and the time of a lookup by the hash says nothing about the id.
 */
export const hashSessionId = (id: string): string => hash('sha256', id, 'base64url');

const pattern = /^[A-Za-z0-9_-]{43}$/;

/** Whether a cookie has the length and characters of a session id. */
export const isWellFormedSessionId = (id: string): boolean => pattern.test(id);
