import type { Store } from '../../storage/store.ts';
import {
  deleteOperatorSession,
  findOperatorSession,
  insertOperatorSession,
  type OperatorSessionRow,
  touchOperatorSession,
} from '../../storage/tables/operator-session.ts';
import { type OperatorToken, recordOperatorTokenUse } from '../../storage/tables/operator-token.ts';
import type { SessionLimits } from '../auth-context.ts';
import { SessionError } from '../error.ts';
import type { OperatorAccess, OperatorGate } from '../verify/authorize-operator.ts';
import {
  endOf,
  generateSessionId,
  hashSessionId,
  isWellFormedSessionId,
  startTimes,
  timesAfterUse,
} from './session.ts';

/** A session of the operator's console. Times are UTC epoch seconds. */
export interface OperatorSession {
  /** The operator of the token that began the session. */
  readonly operator: OperatorAccess;
  readonly expiresAt: number;
  readonly endsAt: number;
}

/** The sessions of the operator's console: each belongs to a token, and ends with it. */
export interface OperatorSessions {
  readonly limits: SessionLimits;
  /**
   * Begins a session for a token, of a request from `address`. It gets a new id, and `previousId`,
   * that of the same browser, ends. Throws as `OperatorGate` does.
   */
  begin(token: string, previousId: string | undefined, address: string): Promise<StartedSession>;
  /**
   * Returns the session with this id and records its use, unless `isBackground`. Reads the store
   * each time, so that revoking the token counts at the next request. Throws `SessionError`.
   */
  use(id: string | undefined, isBackground: boolean): Promise<OperatorSession>;
  /** Ends a session, and returns it; `undefined` if it had ended before. */
  end(id: string, address: string): Promise<OperatorSession | undefined>;
}

/** A session that has just begun. */
interface StartedSession {
  /** For the cookie only: the store has its hash. Never log it. */
  readonly id: string;
  readonly session: OperatorSession;
}

interface OperatorSessionOptions {
  readonly store: Store;
  readonly gate: Pick<OperatorGate, 'authenticate'>;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly limits: SessionLimits;
  /** Receives why the use of a session could not be recorded: the request goes on. */
  readonly onUnrecorded: (error: unknown) => void;
}

/** Creates the sessions of the operator's console. */
export function createOperatorSessions(options: OperatorSessionOptions): OperatorSessions {
  const { store, gate, now, limits, onUnrecorded } = options;
  const find = async (id: string | undefined): Promise<FoundSession> => {
    if (id === undefined) throw new SessionError('MISSING');
    const found = isWellFormedSessionId(id) ? await findOperatorSession(store, hashSessionId(id)) : undefined;
    if (found === undefined) throw new SessionError('UNKNOWN');
    if (isOver(found.token, now())) throw new SessionError('REVOKED');
    const ended = endOf(found.session, now());
    if (ended !== undefined) throw new SessionError(ended);
    return { id, ...found };
  };
  return {
    limits,
    async begin(token, previousId, address) {
      const operator = await gate.authenticate(token, address);
      if (previousId !== undefined) await deleteOperatorSession(store, hashSessionId(previousId));
      const id = generateSessionId();
      const { expiresAt, capAt, usedAt } = startTimes(now(), limits);
      await insertOperatorSession(store, operator.id, hashSessionId(id), { expiresAt, capAt, usedAt });
      return { id, session: { operator: { ...operator, token: id }, expiresAt, endsAt: capAt } };
    },
    async use(id, isBackground) {
      const found = await find(id);
      const times = isBackground ? undefined : timesAfterUse(found.session, now(), limits);
      if (times === undefined) return describe(found);
      const isRecorded = await touchOperatorSession(store, hashSessionId(found.id), times)
        .then(() => recordOperatorTokenUse(store, found.token, now()))
        .then(() => true)
        .catch((error: unknown) => {
          onUnrecorded(error);
          return false;
        });
      return describe({ ...found, session: isRecorded ? times : found.session });
    },
    async end(id) {
      const found = await find(id).catch((error: unknown) => {
        if (error instanceof SessionError) return undefined;
        throw error;
      });
      const isEnded = await deleteOperatorSession(store, hashSessionId(id));
      return isEnded && found !== undefined ? describe(found) : undefined;
    },
  };
}

interface FoundSession {
  readonly id: string;
  readonly session: OperatorSessionRow;
  readonly token: OperatorToken;
}

const describe = ({ id, session, token }: FoundSession): OperatorSession => ({
  // requests of the session have its id in place of the token
  operator: { ...token, token: id },
  expiresAt: session.expiresAt,
  endsAt: session.capAt,
});

/** Whether a token no longer authorizes anything. */
const isOver = ({ revokedAt, expiresAt }: OperatorToken, nowSeconds: number): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= nowSeconds);
