import { hash, randomBytes } from 'node:crypto';
import type { Store } from '../../storage/store.ts';
import type { SessionTable, SessionTimes, StoredSession } from '../../storage/tables/session.ts';
import type { Clock, SessionLimits } from '../auth-context.ts';
import { SessionError, type SessionErrorCode } from '../error.ts';

/** A session of a console. Times are UTC epoch seconds. */
export interface Session<Holder> {
  /** For the cookie, and keys that are derived from it: the store has its hash. Never log it. */
  readonly id: string;
  readonly holder: Holder;
  /** The refresh family whose revocation ends it; `null` for an operator. */
  readonly family: string | null;
  /** Time without use after which it ends, in seconds. */
  readonly idleSeconds: number;
  readonly expiresAt: number;
  readonly endsAt: number;
}

export interface Sessions<Holder> {
  /**
   * Begins a session of an authenticated holder. It gets a new id, and `previousId`, that of the
   * same browser, ends.
   */
  begin(holder: Holder, previousId: string | undefined): Promise<Session<Holder>>;
  /**
   * Returns the session with this id and records its use, unless `isBackground`. Reads the store
   * each time, so that a revocation by any process counts at the next request. Throws
   * `SessionError`.
   */
  use(id: string | undefined, isBackground: boolean): Promise<Session<Holder>>;
  /**
   * Ends a session for good, and returns it; `undefined` if it had ended before. `address` sent the
   * request; only those that record sign-outs need it (`watchSessions`).
   */
  end(id: string, address: string): Promise<Session<Holder> | undefined>;
}

/** Who holds sessions: what differs between clients and operators. */
export interface HolderKind<Holder, Stored extends Holder> {
  readonly table: SessionTable<Stored>;
  /** How a session of the holder begins. */
  start(holder: Holder, now: Clock): { holderId: string; startedAt: number; family: string | null };
  /** Whether the holder, or what it was allowed for, was taken away. */
  isOver(holder: Stored, startedAt: number, nowSeconds: number): boolean;
  /** Records that the holder was used. */
  recordUse?(store: Store, holder: Stored, nowSeconds: number): Promise<void>;
  /** Whether `end` returns a session that its times or its holder had ended. */
  readonly endsTwice: boolean;
}

export interface SessionContext {
  readonly store: Store;
  readonly now: Clock;
  readonly limits: SessionLimits;
  /**
   * Receives why the use of a session could not be recorded, and the request goes on; without it,
   * the request fails.
   */
  readonly onUnrecorded?: (error: unknown) => void;
}

/** A session of the store, with its id and why it has ended, if it has. */
interface FoundSession<Stored> extends StoredSession<Stored> {
  readonly id: string;
  readonly family: string | null;
  readonly ended: SessionErrorCode | undefined;
}

/** Creates the sessions of a kind of holder. */
export function createSessions<Holder, Stored extends Holder>(
  { store, now, limits, onUnrecorded }: SessionContext,
  { table, start, isOver, recordUse, endsTwice }: HolderKind<Holder, Stored>,
): Sessions<Holder> {
  const find = async (id: string): Promise<FoundSession<Stored> | undefined> => {
    const found = pattern.test(id) ? await table.find(store, hashSessionId(id)) : undefined;
    if (found === undefined) return undefined;
    const { session, holder } = found;
    const isRevoked = session.revokedAt !== null || isOver(holder, session.startedAt, now());
    return { ...found, id, family: session.family, ended: isRevoked ? 'REVOKED' : endOf(session, now()) };
  };
  const { sessionIdleSeconds: idleSeconds } = limits;
  const describe = (
    { id, holder, family }: Pick<Session<Holder>, 'id' | 'holder' | 'family'>,
    { expiresAt, capAt }: SessionTimes,
  ): Session<Holder> => ({ id, holder, family, idleSeconds, expiresAt, endsAt: capAt });
  const record = async ({ sha256, holder }: FoundSession<Stored>, times: SessionTimes): Promise<void> => {
    await table.touch(store, sha256, times);
    await recordUse?.(store, holder, now());
  };
  const end: Sessions<Holder>['end'] = async (id) => {
    const found = await find(id);
    if (found === undefined || !(await table.end(store, found, now()))) return undefined;
    return endsTwice || found.ended === undefined ? describe(found, found.session) : undefined;
  };
  return {
    async begin(holder, previousId) {
      if (previousId !== undefined) await end(previousId, '');
      // 256 random bits
      const id = randomBytes(32).toString('base64url');
      const { holderId, startedAt, family } = start(holder, now);
      const times = startTimes(startedAt, limits);
      await table.insert(store, holderId, { ...times, startedAt, family, sha256: hashSessionId(id) });
      return describe({ id, holder, family }, times);
    },
    async use(id, isBackground) {
      if (id === undefined) throw new SessionError('MISSING');
      const found = await find(id);
      if (found === undefined) throw new SessionError('UNKNOWN');
      if (found.ended !== undefined) throw new SessionError(found.ended);
      const times = isBackground ? undefined : timesAfterUse(found.session, now(), limits);
      if (times === undefined) return describe(found, found.session);
      const recorded = record(found, times).then(() => times);
      const keep = (error: unknown) => {
        if (onUnrecorded === undefined) throw error;
        onUnrecorded(error);
        return found.session;
      };
      return describe(found, await recorded.catch(keep));
    },
    end,
  };
}

/** A use is recorded at most once in this time, so that not every request writes to the store. */
const recordedEverySeconds = 60;

/** The times of a session that begins at `startedAt`. */
function startTimes(startedAt: number, { sessionIdleSeconds, sessionSeconds }: SessionLimits): SessionTimes {
  const capAt = startedAt + sessionSeconds;
  return { usedAt: startedAt, expiresAt: Math.min(startedAt + sessionIdleSeconds, capAt), capAt };
}

/** Why a session has ended by its times, or `undefined`. */
function endOf({ expiresAt, capAt }: SessionTimes, nowSeconds: number): SessionErrorCode | undefined {
  if (capAt <= nowSeconds) return 'OLD';
  return expiresAt <= nowSeconds ? 'IDLE' : undefined;
}

/**
 * The times of a session after its use, or `undefined` if a use was recorded a moment ago. With an
 * idle time below four minutes, uses are recorded more often: at least a quarter of it must pass.
 */
function timesAfterUse(
  { usedAt, capAt }: SessionTimes,
  nowSeconds: number,
  { sessionIdleSeconds }: SessionLimits,
): SessionTimes | undefined {
  if (nowSeconds - usedAt < Math.min(recordedEverySeconds, sessionIdleSeconds / 4)) return undefined;
  return { usedAt: nowSeconds, expiresAt: Math.min(nowSeconds + sessionIdleSeconds, capAt), capAt };
}

/**
 * Hashes the id of a session for the store. SHA-256 is enough: 256 random bits cannot be guessed,
 * and the time of a lookup by the hash says nothing about the id.
 */
const hashSessionId = (id: string): string => hash('sha256', id, 'base64url');

const pattern = /^[A-Za-z0-9_-]{43}$/;
