import type { TenantId } from '../../storage/store.ts';
import { type ClientRow, isExternalClient, recordClientUse } from '../../storage/tables/client.ts';
import {
  type ConsoleSessionRow,
  findConsoleSession,
  insertConsoleSession,
  touchConsoleSession,
} from '../../storage/tables/console-session.ts';
import { revokeRefreshFamily } from '../../storage/tables/refresh-family.ts';
import type { AuthContext } from '../auth-context.ts';
import { type AuthenticatedClient, authenticateClient } from '../clients/authenticate-client.ts';
import { SessionError, TokenError } from '../error.ts';
import { issueTime } from '../grants/issue-token.ts';
import { randomId } from '../random-id.ts';
import {
  endOf,
  generateSessionId,
  hashSessionId,
  isWellFormedSessionId,
  startTimes,
  timesAfterUse,
} from './session.ts';

/** A session of the report's console. Times are UTC epoch seconds. */
export interface ConsoleSession {
  readonly clientId: string;
  readonly tenant: TenantId;
  readonly rateLimit: number | null;
  /** The refresh family whose revocation ends the session; for the log. */
  readonly family: string;
  readonly expiresAt: number;
  readonly endsAt: number;
}

/** A session that has just begun. */
interface StartedSession {
  /** For the cookie only: the store has its hash. Never log it. */
  readonly id: string;
  readonly session: ConsoleSession;
}

/** The scope of a session. */
const scope = 'subscription:read';

/**
 * Authenticates a client by its secret for a session of the console. Throws `TokenError` as the
 * token endpoint does, also if the client may not request tokens for the report.
 */
export async function authenticateForConsole(
  context: AuthContext,
  credentials: { readonly clientId: string; readonly clientSecret: string; readonly address: string },
): Promise<AuthenticatedClient> {
  const client = await authenticateClient(context, { ...credentials, authorization: undefined });
  if (!client.grants.includes('client_credentials'))
    throw new TokenError('unauthorized_client', 'Cannot sign in: the client must have the grant client_credentials');
  return client;
}

/**
 * Begins a session of a client that was authenticated, by its secret or by an identity provider.
 * The session gets a new id, and `previousId`, that of the same browser, ends. Throws `TokenError`
 * if the client lacks the scope of the report.
 */
export async function beginConsoleSession(
  context: AuthContext,
  client: ClientRow,
  previousId: string | undefined,
): Promise<StartedSession> {
  if (!client.scopes.includes(scope))
    throw new TokenError('invalid_scope', `Cannot sign in: the client must have the scope ${scope}`);
  if (previousId !== undefined) await endConsoleSession(context, previousId);
  const id = generateSessionId();
  const startedAt = issueTime(context, client);
  const row = { family: randomId(), startedAt, ...startTimes(startedAt, context.settings), revokedAt: null };
  await insertConsoleSession(context.store, { ...row, clientId: client.clientId, scope, sha256: hashSessionId(id) });
  await recordClientUse(context.store, client, context.now());
  return { id, session: describe(client, row) };
}

/**
 * Returns the session with this id and records its use, unless `isBackground`. Reads the store each
 * time, so that a revocation by any process counts at the next request. Throws `SessionError`.
 */
export async function useConsoleSession(
  context: Pick<AuthContext, 'store' | 'now' | 'settings'>,
  id: string | undefined,
  isBackground = false,
): Promise<ConsoleSession> {
  if (id === undefined) throw new SessionError('MISSING');
  const found = isWellFormedSessionId(id) ? await findConsoleSession(context.store, hashSessionId(id)) : undefined;
  if (found === undefined) throw new SessionError('UNKNOWN');
  const { client, session } = found;
  const now = context.now();
  if (isRevoked(session, client)) throw new SessionError('REVOKED');
  const ended = endOf(session, now);
  if (ended !== undefined) throw new SessionError(ended);
  const times = isBackground ? undefined : timesAfterUse(session, now, context.settings);
  if (times === undefined) return describe(client, session);
  await touchConsoleSession(context.store, client.clientId, { family: session.family, ...times }, now);
  return describe(client, { ...session, ...times });
}

/** Ends a session for good, and returns it; `undefined` if it had ended before. */
export async function endConsoleSession(
  context: Pick<AuthContext, 'store' | 'now'>,
  id: string,
): Promise<ConsoleSession | undefined> {
  const found = isWellFormedSessionId(id) ? await findConsoleSession(context.store, hashSessionId(id)) : undefined;
  if (found === undefined) return undefined;
  const { client, session } = found;
  const isEnded = await revokeRefreshFamily(context.store, client.clientId, session.family, context.now());
  return isEnded ? describe(client, session) : undefined;
}

/** Whether a session, its client, or what it was allowed for, was taken away. */
function isRevoked({ revokedAt, startedAt }: ConsoleSessionRow, client: ClientRow): boolean {
  if (revokedAt !== null || client.disabledAt !== null) return true;
  if (client.tokensRevokedAt !== null && startedAt <= client.tokensRevokedAt) return true;
  const maySignIn = isExternalClient(client) || client.grants.includes('client_credentials');
  return !maySignIn || !client.scopes.includes(scope);
}

const describe = (
  { clientId, tenant, rateLimit }: ClientRow,
  { family, expiresAt, capAt }: Pick<ConsoleSessionRow, 'family' | 'expiresAt' | 'capAt'>,
): ConsoleSession => ({ clientId, tenant, rateLimit, family, expiresAt, endsAt: capAt });
