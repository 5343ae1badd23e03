import { isSecureUrl } from '../../../contract/secure-url.ts';
import { IssuerError } from '../error.ts';

/** Time limit of all requests for one purpose: both discovery documents and the key set. */
export const issuerTimeoutMs = 5_000;
const bodyBytesMax = 262_144;
const redirectsMax = 3;

/**
 * Fetches the discovery document of an issuer, whose `issuer` must be equal (RFC 8414 §3.3). Throws
 * `IssuerError` on any failure.
 */
export async function fetchIssuerMetadata(issuer: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const metadata = await fetchMetadata(issuer, signal);
  if (metadata.issuer === issuer) return metadata;
  throw new IssuerError(
    `Cannot use the discovery document of the external issuer: its issuer must be exactly OIDC_ISSUER, '${issuer}': current value is '${metadata.issuer}'`,
  );
}

/**
 * Fetches the discovery document at the URL of OpenID Connect Discovery §4 (appended), or else of
 * RFC 8414 §3.1 (inserted before the path).
 */
async function fetchMetadata(issuer: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  try {
    return await fetchJson(`${origin}${path}/.well-known/openid-configuration`, signal);
  } catch (error) {
    if (!(error instanceof NotThere)) throw error;
  }
  return fetchJson(`${origin}/.well-known/oauth-authorization-server${path}`, signal);
}

/** The issuer responds, but has nothing at this URL. */
class NotThere extends IssuerError {}

/**
 * Fetches a JSON object with limits in time, size and redirects, which must stay on the same
 * origin.
 */
export async function fetchJson(url: string, signal: AbortSignal, redirects = 0): Promise<Record<string, unknown>> {
  try {
    const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status === 200) return await readObject(response, url);
    await response.body?.cancel();
    if (location !== null && redirects < redirectsMax) {
      const target = new URL(location, url);
      if (target.origin === new URL(url).origin) return await fetchJson(target.href, signal, redirects + 1);
    }
    const Kind = response.status >= 400 && response.status < 500 ? NotThere : IssuerError;
    throw new Kind(
      `Cannot read ${url}: its status must be 200, without redirects: current value is ${response.status}`,
    );
  } catch (error) {
    if (error instanceof IssuerError) throw error;
    throw new IssuerError(`Cannot read ${url}: it must return a JSON object in time: ${String(error)}`, {
      cause: error,
    });
  }
}

/** Reads the body of a response of the issuer, up to a limit. */
export async function readIssuerBody(response: Response, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) throw new IssuerError(`Cannot read ${url}: it must have at most ${bodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readObject(response: Response, url: string): Promise<Record<string, unknown>> {
  const parsed: unknown = JSON.parse((await readIssuerBody(response, url)).toString('utf8'));
  if (typeof parsed !== 'object' || parsed === null) throw new SyntaxError('it is not an object');
  return parsed as Record<string, unknown>;
}

/**
 * Whether an issuer's keys may be fetched from a URL: over https, or over http on this machine if
 * the issuer is on this machine too.
 */
export function isKeysUrlOf(issuer: string, keysUrl: string): boolean {
  return isSecureUrl(keysUrl) && (issuer.startsWith('http://') || keysUrl.toLowerCase().startsWith('https://'));
}
