import type { TenantReader, TenantSql } from '../../storage/store.ts';
import { type ClientRow, isExternalClient, recordClientUse } from '../../storage/tables/client.ts';
import { readHistory } from '../../storage/tables/history.ts';
import { type OperatorToken, recordOperatorTokenUse } from '../../storage/tables/operator-token.ts';
import { clientSessions, operatorSessions, sessionScope } from '../../storage/tables/session.ts';
import type { AuthContext } from '../auth-context.ts';
import { type AuthenticatedClient, authenticateClient } from '../clients/authenticate-client.ts';
import { TokenError } from '../error.ts';
import { issueTime } from '../grants/issue-token.ts';
import { randomId } from '../random-id.ts';
import type { OperatorAccess } from '../verify/authorize-operator.ts';
import { createSessions, type HolderKind, type SessionContext, type Sessions } from './session.ts';

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
 * Creates the sessions of the report's console, of clients that were authenticated by their secret
 * or by an identity provider. `begin` throws `TokenError` if the client lacks the scope of the
 * report.
 */
export function createClientSessions({ store, now, settings }: AuthContext): Sessions<ClientRow> {
  const sessions = createSessions({ store, now, limits: settings }, clientKind);
  return {
    ...sessions,
    async begin(client, previousId) {
      if (!client.scopes.includes(sessionScope))
        throw new TokenError('invalid_scope', `Cannot sign in: the client must have the scope ${sessionScope}`);
      const session = await sessions.begin(client, previousId);
      await recordClientUse(store, client, now());
      return session;
    },
  };
}

const selectEndOfFirstImport: TenantSql = `select max(committed_at) + 1 as first_end from subscription_commit
  where tenant_id = $1 and revision < coalesce((
    select revision from subscription_commit where tenant_id = $1 and import_id is distinct from (
      select import_id from subscription_commit where tenant_id = $1 order by revision limit 1
    ) order by revision limit 1
  ), revision + 1)`;

/**
 * The oldest instant with a report, in UTC epoch seconds; `undefined` without a history. A history
 * that begins with its tenant, without records, has its first report after the first import.
 */
export const findHistoryBegin = (
  { store, now }: Pick<AuthContext, 'store' | 'now'>,
  { tenant }: Pick<ClientRow, 'tenant'>,
): Promise<number | undefined> => {
  const read = async (reader: TenantReader): Promise<number | undefined> => {
    const { kept, createdAt, revision } = await readHistory(reader);
    if (kept === undefined || kept.fromSeconds > createdAt || kept.from === revision) return kept?.fromSeconds;
    const [row] = await reader.all(selectEndOfFirstImport);
    return Math.min(now(), Math.max(kept.fromSeconds, Number(row?.first_end ?? 0)));
  };
  return store.readTenant(tenant, read, { isBounded: true });
};

const clientKind: HolderKind<ClientRow, ClientRow> = {
  table: clientSessions,
  start: (client, now) => ({
    holderId: client.clientId,
    startedAt: issueTime({ now }, client),
    family: randomId(),
  }),
  isOver(client, startedAt) {
    if (client.disabledAt !== null) return true;
    if (client.tokensRevokedAt !== null && startedAt <= client.tokensRevokedAt) return true;
    const maySignIn = isExternalClient(client) || client.grants.includes('client_credentials');
    return !maySignIn || !client.scopes.includes(sessionScope);
  },
  endsTwice: true,
};

/** The sessions of the operator's console: each belongs to a token, and ends with it. */
export type OperatorSessions = Sessions<OperatorAccess>;

/** Creates the sessions of the operator's console. */
export const createOperatorSessions = (context: Required<SessionContext>): OperatorSessions =>
  createSessions(context, operatorKind);

const operatorKind: HolderKind<OperatorAccess, OperatorToken> = {
  table: operatorSessions,
  start: ({ id }, now) => ({ holderId: id, startedAt: now(), family: null }),
  isOver: ({ revokedAt, expiresAt }, _startedAt, nowSeconds) =>
    revokedAt !== null || (expiresAt !== null && expiresAt <= nowSeconds),
  recordUse: recordOperatorTokenUse,
  endsTwice: false,
};
