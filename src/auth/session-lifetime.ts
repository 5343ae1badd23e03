import type { SessionErrorCode } from './error.ts';

/** How long a session of a console lasts, in seconds. */
export interface SessionLimits {
  /** Time without use after which it ends. */
  readonly sessionIdleSeconds: number;
  /** Maximum age, however often it is used. */
  readonly sessionSeconds: number;
}

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
