import { isOnThisMachine } from '../contract/secure-url.ts';
import { SubreportError } from './error.ts';
import type { TokenEndpoint } from './options.ts';
import { formatError, readProblem, readShortJson } from './read-response.ts';
import type { Sender } from './sender.ts';

/** The URLs of the token endpoint. */
export interface TokenUrls {
  readonly tokenUrl: string;
  readonly revocationUrl: string;
}

type Metadata = Readonly<Partial<Record<'issuer' | 'token_endpoint' | 'revocation_endpoint', string>>>;

/** Returns the URLs of the token endpoint, from the metadata of the issuer if there is one. */
export async function tokenUrlsOf(endpoint: TokenEndpoint, sender: Sender): Promise<TokenUrls> {
  const { issuer, tokenUrl, revocationUrl } = endpoint;
  return issuer === undefined ? urlsOf(tokenUrl, revocationUrl) : await discover(issuer, sender);
}

/** In our service and Keycloak, the revocation endpoint differs only in the last path segment. */
const urlsOf = (tokenUrl: string, revocationUrl = new URL('revoke', tokenUrl).href): TokenUrls => ({
  tokenUrl,
  revocationUrl,
});

/** RFC 8414 §3.1 puts the path of the issuer last, OpenID Connect Discovery §4 first. */
async function discover(issuer: string, sender: Sender): Promise<TokenUrls> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  try {
    return await readMetadata(issuer, `${origin}/.well-known/oauth-authorization-server${path}`, sender);
  } catch (error) {
    const isMissing = error instanceof SubreportError && (error as { status?: number }).status !== undefined;
    if (!isMissing) throw error;
    return await readMetadata(issuer, `${origin}${path}/.well-known/openid-configuration`, sender);
  }
}

function readMetadata(issuer: string, url: string, sender: Sender): Promise<TokenUrls> {
  return sender.send(
    {
      url,
      headers: {},
      readRejection: (response, context) =>
        readProblem(response, context, `: is '${issuer}' the URL of the service, or the issuer of its tokens?`),
      read: async (response, context) => {
        const metadata = await readShortJson<Metadata>(response, context);
        const { issuer: found = 'none', token_endpoint: tokenUrl, revocation_endpoint: revocationUrl } = metadata ?? {};
        // RFC 8414 §3.3: otherwise another issuer could receive the secret
        const other = found === issuer ? '' : `: its issuer is '${found}'`;
        if (other || tokenUrl === undefined)
          throw formatError(response, `the metadata of issuer '${issuer}' with its token_endpoint${other}`, context);
        const urls = urlsOf(tokenUrl, revocationUrl);
        // a service on this machine could receive the secret without TLS
        if (!isOnThisMachine(issuer) && Object.values(urls).some(isOnThisMachine))
          throw formatError(response, `the metadata of issuer '${issuer}' with endpoints of other machines`, context);
        return urls;
      },
    },
    {},
  );
}
