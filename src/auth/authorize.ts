import type { Scope } from '../contract/token.ts';
import { type ClientRow, findClient } from '../storage/client.ts';
import type { TenantId } from '../storage/store.ts';
import type { AuthContext } from './auth-context.ts';
import { AccessError } from './error.ts';
import { besideOwn, type ExternalIssuer } from './external-issuer.ts';
import { createTokenVerifier } from './verify-token.ts';

/** Who sent a request: a client, and the tenant whose records it may see. */
export interface Access {
  readonly clientId: string;
  readonly tenant: TenantId;
}

/** How long a client that was looked up is taken as it was, in seconds: disabling one takes effect within this. */
const clientFreshSeconds = 1;
const clientsMax = 10_000;

/**
 * Makes the check of the `Authorization` header (RFC 6750 §2.1): a Bearer token of ours or of the external issuer, good, with the scope, of a client that is
 * active. The tenant is that of the client, whoever issued the token.
 */
export function createAuthorizer(
  context: AuthContext,
  external?: ExternalIssuer,
): (header: string | undefined, scope: Scope) => Promise<Access> {
  const verifyToken = besideOwn(createTokenVerifier(context), external);
  const lookUpClient = createClientLookup(context);
  return async (header, scope) => {
    const claims = await verifyToken(readBearer(header));
    const client = await lookUpClient(claims.clientId);
    if (client === undefined || client.disabledAt !== null) {
      throw new AccessError('INVALID_TOKEN', 'Cannot accept the access token: its client must be active');
    }
    if (!claims.scopes.includes(scope) || !client.scopes.includes(scope)) {
      const { scopeName = scope } = claims;
      throw new AccessError(
        'INSUFFICIENT_SCOPE',
        `Cannot do this with the access token: its scope must include '${scopeName}'`,
        scopeName,
      );
    }
    return { clientId: client.clientId, tenant: client.tenant };
  };
}

/** The token of `Authorization: Bearer <token>`; the scheme without case, the token as RFC 6750 §2.1 spells it. */
function readBearer(header: string | undefined): string {
  const [, scheme, rest] = /^([^ ]+)(.*)$/.exec(header ?? '') ?? [];
  if (scheme?.toLowerCase() !== 'bearer') {
    throw new AccessError(
      'MISSING_TOKEN',
      "Cannot answer without an access token: send the header 'Authorization: Bearer <ACCESS_TOKEN>'",
    );
  }
  const token = /^ +([A-Za-z0-9._~+/-]+=*)$/.exec(rest ?? '')?.[1];
  if (token === undefined) {
    throw new AccessError(
      'MALFORMED',
      "Cannot read the Authorization header: it must be 'Bearer', one blank and one token",
    );
  }
  return token;
}

function createClientLookup({ store, now }: AuthContext): (clientId: string) => Promise<ClientRow | undefined> {
  const known = new Map<string, { client: ClientRow | undefined; readAt: number }>();
  return async (clientId) => {
    const fresh = known.get(clientId);
    if (fresh !== undefined && now() - fresh.readAt < clientFreshSeconds) return fresh.client;
    const readAt = now();
    const client = await findClient(store, clientId);
    if (known.size >= clientsMax) known.clear();
    known.set(clientId, { client, readAt });
    return client;
  };
}
