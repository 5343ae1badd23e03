import type { FastifyRequest } from 'fastify';
import type { TokenErrorCode } from '../../../contract/error-code.ts';

/**
 * Additional fields in the log line of an OAuth request: the claimed client, its address and the
 * outcome.
 */
export interface TokenAudit {
  readonly address: string;
  /** As the request claims it, before authentication. */
  readonly claimed_client_id: string | null;
  /** Present if a page of this service, such as the console, signs a client in or out. */
  readonly purpose?: 'sign-in' | 'sign-out';
  readonly outcome: 'accepted' | 'refused';
  readonly error?: TokenErrorCode;
  /** The refresh family that was used, created or revoked. */
  readonly family?: string;
  /** Id of the issued access token. */
  readonly jti?: string;
  /** `sub` of the person who signed in at the identity provider, unless it is an email address. */
  readonly subject?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the routes of OAuth clients. */
    audit: TokenAudit | null;
  }
}

/** Starts the audit of a request as refused, unless `more` says otherwise. */
export function startTokenAudit(request: FastifyRequest, more: Partial<TokenAudit> = {}): void {
  request.audit = { address: request.ip, claimed_client_id: null, outcome: 'refused', ...more };
}

export function auditRequest(request: FastifyRequest, more: Partial<TokenAudit>): void {
  if (request.audit !== null) request.audit = { ...request.audit, ...more };
}
