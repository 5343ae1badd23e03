import { hash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Scope } from '../../../contract/oauth/grant.ts';
import type { TenantId } from '../../storage/store.ts';
import { type ClientRow, findClientOfToken, isExternalClient } from '../../storage/tables/client.ts';
import type { AuthContext } from '../auth-context.ts';
import { AccessError } from '../error.ts';
import {
  createTokenVerifier,
  findBearer,
  insufficientScope,
  type OwnTokenClaims,
  requireTokenSyntax,
  type TokenClaims,
} from './verify-token.ts';

/** The client that sent a request, and the tenant whose records it may read. */
export interface Access {
  readonly clientId: string;
  readonly tenant: TenantId;
  /** Requests per minute of the client; 0 for no limit, `null` for the service's default. */
  readonly rateLimit: number | null;
}

/** What the log and the limits need of a client. */
export const accessOf = ({ clientId, tenant, rateLimit }: Access): Access => ({ clientId, tenant, rateLimit });

/** An identity provider whose access tokens are accepted in addition to our own. */
export interface ExternalIssuer {
  readonly issuer: string;
  /**
   * Returns the claims of a valid token. Throws `AccessError`, or `IssuerError` if the issuer's
   * keys are not available.
   */
  readonly verify: (token: string) => Promise<TokenClaims>;
  /**
   * A number that changes when other keys replace the known ones. Starts their refresh when it is
   * due.
   */
  readonly keyMark: () => number;
  /** Fetches the keys before the first token arrives. Never rejects: faults go to `onFault`. */
  readonly prepare: () => Promise<void>;
}

export interface ResourceServer {
  /** Returns the claims of a valid token that this service issued; throws `AccessError`. */
  readonly verifyToken: (token: string) => Promise<OwnTokenClaims>;
  /**
   * Returns the client of a valid token, or `undefined` if it is disabled or the token is revoked.
   */
  readonly findTokenClient: (claims: TokenClaims) => Promise<ClientRow | undefined>;
  /**
   * Checks the `Authorization` header (RFC 6750 §2.1): it must hold a valid Bearer token with the
   * scope, issued by us or the external issuer to an active client. The tenant is always that of
   * the registered client, never a claim of the token. Throws `AccessError`, or `IssuerError` if
   * the external issuer's keys are not available.
   */
  readonly authorize: (header: string | undefined, scope: Scope) => Promise<Access>;
}

interface KnownToken {
  readonly claims: TokenClaims;
  /** `ExternalIssuer.keyMark` before its signature was verified; 0 for our own tokens. */
  readonly keyMark: number;
  /** Its client, or `undefined` if it may not be used, in the store at `changeMark`. */
  readonly client: Promise<ClientRow | undefined>;
  readonly changeMark: number | undefined;
}

/** The memory of tokens: verifying one takes three quarters of a trivial request. */
const bounds = { max: 10_000, maxSize: 33_554_432, ttlAutopurge: true };

/** The longest that a token is remembered: a timer of Node.js cannot last longer than 24 days. */
const rememberedSecondsMax = 86_400;

/** Bytes of a client in memory, with a long id and tenant. */
const clientBytes = 2_000;

/**
 * Creates the check of access tokens. The result of verifying a token is cached under its SHA-256
 * until it expires, for a day at most: its claims while its signing key is trusted, its client
 * while the store is unchanged. So a repeated token costs one hash.
 */
export function createResourceServer(context: AuthContext, external?: ExternalIssuer): ResourceServer {
  const { store, keys, now } = context;
  const verifyToken = createTokenVerifier(context);
  const tokens = new LRUCache<string, KnownToken>(bounds);
  const findTokenClient = async (claims: TokenClaims): Promise<ClientRow | undefined> => {
    const found = await findClientOfToken(store, claims.clientId, claims.family);
    return found === undefined || found.familyRevoked ? undefined : allowed(claims, found.client);
  };
  return { verifyToken, findTokenClient, authorize };

  async function authorize(header: string | undefined, scope: Scope): Promise<Access> {
    const { claims, client: finding } = await know(findBearer(header));
    const client = await finding;
    if (client === undefined) throw inactiveToken(claims.clientId);
    if (!claims.scopes.includes(scope) || !client.scopes.includes(scope)) {
      throw insufficientScope(claims.scopeName ?? scope, client.clientId);
    }
    return accessOf(client);
  }

  /** Returns what is known of a token, verified now or before. */
  async function know(token: string): Promise<KnownToken> {
    // before anything is read: a change made meanwhile gives the next request other marks
    const changeMark = store.changeMark();
    const keyMark = external?.keyMark() ?? 0;
    const cacheKey = hash('sha256', token, 'base64url');
    const isCurrent = (entry: KnownToken): boolean =>
      changeMark !== undefined &&
      entry.changeMark === changeMark &&
      (entry.claims.isOwn || entry.keyMark === keyMark) &&
      entry.claims.validUntil > now();
    const known = tokens.get(cacheKey);
    if (known !== undefined && isCurrent(known)) return known;
    const claims =
      known !== undefined && (await isTrusted(known, keyMark)) ? known.claims : await verify(requireTokenSyntax(token));
    // concurrent requests share a read of the store
    const other = tokens.get(cacheKey);
    if (other !== undefined && isCurrent(other)) return other;
    const client = findTokenClient(claims);
    const entry = { claims, keyMark, client, changeMark };
    const seconds = Math.min(Math.max(claims.validUntil - now(), 1), rememberedSecondsMax);
    // the claims are a part of the token; a ttl of 0 would never end
    tokens.set(cacheKey, entry, { size: token.length + clientBytes, ttl: Math.ceil(seconds * 1_000) });
    // a failed read must not be repeated from the cache
    client.catch(() => {
      if (tokens.get(cacheKey) === entry) tokens.delete(cacheKey);
    });
    return entry;
  }

  /** Whether a known token has not expired, and the key that signed it is still trusted. */
  async function isTrusted({ claims, keyMark }: KnownToken, keyMarkNow: number): Promise<boolean> {
    if (claims.validUntil <= now()) return false;
    return claims.kid === undefined ? keyMark === keyMarkNow : (await keys.verifyingKey(claims.kid)) !== undefined;
  }

  /**
   * Sends a token to the check of its issuer: to the external one if its `iss` equals that issuer
   * exactly, otherwise to ours. This trusts nothing in the token: each check reads `iss` again
   * after it has verified the signature.
   */
  function verify(token: string): Promise<TokenClaims> {
    return external !== undefined && issuerOf(token) === external.issuer ? external.verify(token) : verifyToken(token);
  }
}

function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined; // no JWT
  }
}

/**
 * Returns the client of a token that was valid when it was issued, if it is still valid: its client
 * is active and belongs to the token's issuer, and the token was issued neither before the tokens
 * of its client were revoked nor before this client existed.
 */
function allowed({ issuedAt, isOwn }: TokenClaims, client: ClientRow): ClientRow | undefined {
  const { disabledAt, tokensRevokedAt, createdAt } = client;
  // a client id belongs to one issuer only
  if (disabledAt !== null || isOwn === isExternalClient(client)) return undefined;
  if (tokensRevokedAt !== null && issuedAt <= tokensRevokedAt) return undefined;
  return isOwn && issuedAt < createdAt ? undefined : client;
}

const inactiveToken = (clientId: string) =>
  new AccessError(
    'INVALID_TOKEN',
    'Cannot accept the access token: its client must be active and belong to its issuer, and it must not have been revoked',
    undefined,
    clientId,
  );
