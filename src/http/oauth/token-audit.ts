import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TokenErrorCode } from '../../contract/token.ts';

/**
 * What the log line of an OAuth request says beside that of any other: who claimed to be whom, from
 * where, and what became of it.
 */
export interface TokenAudit {
  readonly address: string;
  /** As the request named it, before it was authenticated. */
  readonly claimed_client_id: string | null;
  readonly outcome: 'accepted' | 'refused';
  readonly error?: TokenErrorCode;
  /** The refresh family that was used, made or revoked. */
  readonly family?: string;
  /** Id of the access token that was issued. */
  readonly jti?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on the routes of OAuth clients. */
    audit: TokenAudit | null;
  }
}

/** Begins the audit of each request of a scope: it is refused until it is accepted. */
export function addTokenAudit(scope: FastifyInstance): void {
  scope.addHook('onRequest', async (request) => {
    request.audit = { address: request.ip, claimed_client_id: null, outcome: 'refused' };
  });
}

/** Adds to the audit of a request. */
export function auditRequest(request: FastifyRequest, more: Partial<TokenAudit>): void {
  if (request.audit !== null) request.audit = { ...request.audit, ...more };
}
