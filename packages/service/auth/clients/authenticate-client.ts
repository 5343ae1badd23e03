import { decodeFormText } from '../../../contract/form.ts';
import type { ClientRow } from '../../storage/tables/client.ts';
import { findClientWithSecrets, rewriteSecretHash } from '../../storage/tables/client-secret.ts';
import type { AuthContext } from '../auth-context.ts';
import { describeStray, TokenError } from '../error.ts';
import type { Attempt } from '../failure-budget.ts';
import {
  hashChosenSecret,
  isChosenHash,
  isOutdatedHash,
  verifyChosenSecret,
  verifyGeneratedSecret,
  verifyNothing,
} from './client-secret.ts';

/** The client credentials of a token request: the `Authorization` header and the form fields. */
export interface ClientCredentials {
  readonly authorization: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** Address of the sender of the request. */
  readonly address: string;
}

/** A client whose credentials were verified. */
export type AuthenticatedClient = ClientRow;

/** An id and a secret as the request sent them. */
interface Claim {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Longest id and secret that a client can have; longer ones are rejected unchecked. */
const lengthMax = { clientId: 255, clientSecret: 512 };

/**
 * Authenticates the client of a token request by HTTP Basic or by form fields (RFC 6749 §2.3.1). An
 * unknown client, a wrong secret and a disabled client get the same error.
 */
export async function authenticateClient(
  context: AuthContext,
  credentials: ClientCredentials,
): Promise<AuthenticatedClient> {
  const claims = readCredentials(credentials);
  for (const claim of claims) {
    const client = isPossible(claim) ? await findProvenClient(context, claim, credentials.address) : undefined;
    if (client !== undefined) return client;
  }
  throw failed(describeStray({ client_id: claims[0]?.clientId, client_secret: claims[0]?.clientSecret }));
}

/** Returns the client id that a request claims before it is authenticated, if it can be read. */
export function claimedClientId({ authorization, clientId }: ClientCredentials): string | undefined {
  if (clientId !== undefined || authorization === undefined) return clientId;
  return readBasic(authorization)[0]?.clientId;
}

/**
 * Returns the active client with this id and secret. Generated secrets are checked first and are
 * never rate limited, so that nobody can lock their client out.
 */
async function findProvenClient(
  context: AuthContext,
  { clientId, clientSecret }: Claim,
  address: string,
): Promise<ClientRow | undefined> {
  const found = await findClientWithSecrets(context.store, clientId, context.now());
  if (found === undefined || found.client.disabledAt !== null || found.hashes.length === 0) {
    verifyNothing(clientSecret);
    return undefined;
  }
  const { hashes } = found;
  const chosen = hashes.filter(isChosenHash);
  const isProven =
    hashes.some((hash) => verifyGeneratedSecret(hash, clientSecret)) ||
    (chosen.length > 0 && (await proveChosen(context, chosen, clientSecret, { clientId, address })));
  return isProven ? found.client : undefined;
}

/**
 * Whether a secret is one of a client's chosen secrets, within its budget of failed attempts. An
 * attempt that could not be checked counts as failed.
 */
async function proveChosen(
  { failures, store }: AuthContext,
  hashes: readonly string[],
  secret: string,
  attempt: Attempt,
): Promise<boolean> {
  const wait = await failures.secondsToWait(attempt);
  if (wait > 0) {
    throw new TokenError('slow_down', 'Cannot authenticate the client now: too many attempts failed', wait);
  }
  let proven: string | undefined;
  try {
    proven = await findHash(attempt.clientId, hashes, secret);
  } finally {
    if (proven === undefined) await failures.count(attempt);
  }
  if (proven === undefined) return false;
  if (isOutdatedHash(proven)) {
    await rewriteSecretHash(store, attempt.clientId, proven, await hashChosenSecret(secret));
  }
  return true;
}

async function findHash(clientId: string, hashes: readonly string[], secret: string): Promise<string | undefined> {
  for (const hash of hashes) if (await verifyChosenSecret(clientId, hash, secret)) return hash;
  return undefined;
}

const isPossible = ({ clientId, clientSecret }: Claim): boolean =>
  visible.test(clientId) &&
  clientId.length <= lengthMax.clientId &&
  clientSecret.length > 0 &&
  clientSecret.length <= lengthMax.clientSecret;

/** Characters of a client_id (RFC 6749 Appendix A.1). */
const visible = /^[\x20-\x7e]+$/;

const failed = (found = '') =>
  new TokenError(
    'invalid_client',
    `Cannot authenticate the client: client_id and client_secret must be those of an active client${found}`,
  );

const basicScheme = /^basic(?: |$)/i;

/** Returns the possible readings of a request's credentials, in the order to try them. */
function readCredentials({ authorization, clientId, clientSecret }: ClientCredentials): readonly Claim[] {
  if (authorization === undefined || (clientSecret !== undefined && !basicScheme.test(authorization))) {
    if (clientId === undefined || clientSecret === undefined)
      throw failed(`; not sent: ${clientId === undefined ? 'client_id' : 'client_secret'}`);
    // a session-wide `Authorization: Bearer` does not identify the client
    return [{ clientId, clientSecret }];
  }
  if (clientSecret !== undefined) {
    throw new TokenError(
      'invalid_request',
      'Cannot authenticate the client: only one method must be used, either HTTP Basic or client_secret in the body',
    );
  }
  const claims = readBasic(authorization);
  if (claims.length === 0) throw failed();
  const meant = claims.filter((claim) => clientId === undefined || clientId === claim.clientId);
  if (meant.length === 0) {
    throw new TokenError(
      'invalid_request',
      'Cannot authenticate the client: client_id in the body must be the one of HTTP Basic',
    );
  }
  return meant;
}

/**
 * Reads `Basic` credentials: both halves are form-encoded before they are joined (RFC 6749 §2.3.1,
 * RFC 7617 §2). curl, requests and authlib do not encode them, so if decoding changes a half, the
 * undecoded credentials are tried as well.
 */
function readBasic(authorization: string): readonly Claim[] {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return [];
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  const raw = { clientId: pair.slice(0, Math.max(colon, 0)), clientSecret: pair.slice(colon + 1) };
  if (raw.clientId === '' || raw.clientSecret === '') return [];
  const clientId = decodeFormText(raw.clientId);
  const clientSecret = decodeFormText(raw.clientSecret);
  if (clientId === raw.clientId && clientSecret === raw.clientSecret) return [raw];
  return clientId === undefined || clientSecret === undefined ? [raw] : [{ clientId, clientSecret }, raw];
}

/** Longest client id that is logged whole. */
const idLengthMax = 255;

/**
 * How a generated secret, an access token, a refresh token or an operator's token looks, also after
 * a name or an id, such as in `id:secret`.
 */
const secretLike = /(?<![\w-])(?:[\w-]{43}(?![\w-])|eyJ|[\w-]{22}\.\d|sro_)/;

/** Whether a text has a secret, or is the value of an `Authorization` header that has one. */
const hasSecret = (text: string): boolean =>
  secretLike.test(text) || secretLike.test(Buffer.from(text.replace(/^basic /i, ''), 'base64').toString('latin1'));

/**
 * Returns a client id that is not known to exist for the audit log: truncated, and without what
 * looks like a secret, a token or an email address.
 */
export function describeClaimedId(clientId: string): string {
  return hasSecret(clientId) ? '(omitted: it looks like a secret)' : omitEmail(clientId).slice(0, idLengthMax);
}

/** Returns a name for the logs, unless it looks like an email address. */
export const omitEmail = (name: string): string =>
  /@|%40/.test(name) ? '(omitted: it looks like an email address)' : name;
