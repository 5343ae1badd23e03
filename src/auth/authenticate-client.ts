import { decodeFormText } from '../contract/form.ts';
import { type ClientRow, findClientWithSecrets } from '../storage/client.ts';
import type { AuthContext } from './auth-context.ts';
import { verifyNothing, verifySecret } from './client-secret.ts';
import { TokenError } from './error.ts';

/** What a token request carries about the client: the `Authorization` header and the form fields, each at most once. */
export interface ClientCredentials {
  readonly authorization: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** Address that the request came from. */
  readonly address: string;
}

/** A client that has proved who it is. */
export type AuthenticatedClient = ClientRow;

/**
 * Finds out which client sent a token request, by HTTP Basic or by form fields (RFC 6749 §2.3.1). An unknown client, a wrong secret and a disabled client
 * are told the same in the same time.
 */
export async function authenticateClient(
  context: AuthContext,
  credentials: ClientCredentials,
): Promise<AuthenticatedClient> {
  const { clientId, clientSecret } = readCredentials(credentials);
  if (!visible.test(clientId)) throw failed();
  const key = `${clientId} ${credentials.address}`;
  const wait = await context.failures.secondsToWait(key);
  if (wait > 0) {
    throw new TokenError('slow_down', 'Cannot authenticate the client now: too many attempts failed', wait);
  }
  const client = await findActiveClient(context, clientId, clientSecret);
  if (client !== undefined) return client;
  await context.failures.count(key);
  throw failed();
}

async function findActiveClient(
  context: AuthContext,
  clientId: string,
  secret: string,
): Promise<ClientRow | undefined> {
  const found = await findClientWithSecrets(context.store, clientId, context.now());
  if (found === undefined || found.client.disabledAt !== null || found.secrets.length === 0) {
    verifyNothing(secret);
    return undefined;
  }
  for (const { hash } of found.secrets) {
    if (await verifySecret(hash, secret)) return found.client;
  }
  return undefined;
}

/** Characters of a client_id (RFC 6749 Appendix A.1). */
const visible = /^[\x20-\x7e]+$/;

const failed = () =>
  new TokenError(
    'invalid_client',
    'Cannot authenticate the client: client_id and client_secret must be those of an active client',
  );

function readCredentials({ authorization, clientId, clientSecret }: ClientCredentials) {
  if (authorization === undefined) {
    if (clientId === undefined || clientSecret === undefined) throw failed();
    return { clientId, clientSecret };
  }
  if (clientSecret !== undefined) {
    throw new TokenError(
      'invalid_request',
      'Cannot authenticate the client: one way must be used, either HTTP Basic or client_secret in the body',
    );
  }
  const basic = readBasic(authorization);
  if (clientId !== undefined && clientId !== basic.clientId) {
    throw new TokenError(
      'invalid_request',
      'Cannot authenticate the client: client_id in the body must be the one of HTTP Basic',
    );
  }
  return basic;
}

/** Reads `Basic` credentials: both halves are form-encoded before they are joined (RFC 6749 §2.3.1, RFC 7617 §2). */
function readBasic(authorization: string): { clientId: string; clientSecret: string } {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) throw failed();
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const clientId = decodeFormText(text.slice(0, Math.max(colon, 0)));
  const clientSecret = decodeFormText(text.slice(colon + 1));
  if (colon < 0 || !clientId || !clientSecret) throw failed();
  return { clientId, clientSecret };
}
