import { type TokenErrorCode, tokenErrorStatuses } from '../../contract/error-code.ts';
import { operations } from '../../contract/operations.ts';
import type { ClientRow } from '../storage/tables/client.ts';
import type { AuditAction, AuditEvent } from './audit-event.ts';

/** A request with client credentials, after its response. */
interface TokenOutcome {
  readonly address: string;
  /** As the request claims it, before authentication. */
  readonly claimed_client_id: string | null;
  readonly outcome: 'accepted' | 'refused';
  readonly error?: TokenErrorCode;
  readonly family?: string;
  /** Whether a page of this service, such as the console, signs a client in or out. */
  readonly purpose?: 'sign-in' | 'sign-out';
}

const actionOf: Readonly<Record<string, AuditAction>> = {
  [operations.issueToken.path]: 'token.request',
  [operations.revokeToken.path]: 'token.revoke',
  [operations.introspectToken.path]: 'token.introspect',
};

/**
 * Returns the event of a request with client credentials: a refusal, the reuse of a refresh token,
 * or a sign-in or sign-out by a page of this service. Returns `undefined` if the audit log does not
 * record it.
 */
export function tokenEvent(
  route: string | null,
  client: Pick<ClientRow, 'clientId' | 'tenant'> | null,
  { address, claimed_client_id: claimed, outcome, error, family, purpose }: TokenOutcome,
): AuditEvent | undefined {
  const action = purpose === undefined ? actionOf[route ?? ''] : (`console.${purpose}` as const);
  const isRefused = outcome === 'refused';
  if (action === undefined || isOurFault(error)) return undefined;
  if (!isRefused && purpose === undefined) return undefined;
  const isReuse = isRefused && family !== undefined;
  return {
    actor: { kind: client === null ? 'anonymous' : 'client', id: client?.clientId ?? null, name: null },
    address,
    action: isReuse ? 'token.reuse' : action,
    tenant: client?.tenant ?? null,
    clientId: client?.clientId ?? claimed,
    outcome: isRefused ? 'refused' : 'ok',
    error: error ?? null,
    correlationId: null,
    details: isReuse ? { family } : {},
  };
}

const isOurFault = (error: TokenErrorCode | undefined): boolean =>
  error !== undefined && tokenErrorStatuses[error] >= 500;
