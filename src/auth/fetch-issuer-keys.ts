import type { JSONWebKeySet } from 'jose';
import { inRequestSpan } from '../tracing/request-span.ts';
import { IssuerError } from './error.ts';
import { isKeysUrlOf } from './secure-url.ts';

/** The fetched key set of an issuer. */
interface FetchedKeys {
  readonly keys: JSONWebKeySet;
  /** Cache time that the issuer allows, in seconds; `undefined` if it sends no `max-age`. */
  readonly maxAgeSeconds: number | undefined;
}

/** Time limit of the whole: both discovery documents and the key set. */
const timeoutMs = 5_000;
const bodyBytesMax = 262_144;
const redirectsMax = 3;

/**
 * Fetches the discovery document of an issuer, whose `issuer` must be equal (RFC 8414 §3.3), and
 * its key set (RFC 7517 §5). Throws `IssuerError` on any failure.
 */
export async function fetchIssuerKeys(issuer: string): Promise<FetchedKeys> {
  const signal = AbortSignal.timeout(timeoutMs);
  const metadata = await fetchMetadata(issuer, signal);
  if (metadata.issuer !== issuer) {
    throw new IssuerError(
      `Cannot use the discovery document of the external issuer: its issuer must be exactly OIDC_ISSUER, '${issuer}': current value is '${metadata.issuer}'`,
    );
  }
  const { jwks_uri: keysUrl } = metadata;
  if (typeof keysUrl !== 'string' || !isKeysUrlOf(issuer, keysUrl)) {
    throw new IssuerError(
      `Cannot use the discovery document of the external issuer: its jwks_uri must be an https URL: current value is '${keysUrl}'`,
    );
  }
  const { body, headers } = await fetchJson(keysUrl, signal);
  if (!isKeySet(body)) {
    throw new IssuerError(`Cannot use the key set of the external issuer: ${keysUrl} must return at least one key`);
  }
  return { keys: body, maxAgeSeconds: readMaxAge(headers.get('cache-control')) };
}

/**
 * Fetches the discovery document at the URL of OpenID Connect Discovery §4 (appended), or else of
 * RFC 8414 §3.1 (inserted before the path).
 */
async function fetchMetadata(issuer: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  try {
    return (await fetchJson(`${origin}${path}/.well-known/openid-configuration`, signal)).body;
  } catch (error) {
    if (!(error instanceof NotThere)) throw error;
  }
  return (await fetchJson(`${origin}/.well-known/oauth-authorization-server${path}`, signal)).body;
}

/** The issuer responds, but has nothing at this URL. */
class NotThere extends IssuerError {}

/**
 * Fetches a JSON object with limits in time, size and redirects, which must stay on the same
 * origin.
 */
async function fetchJson(
  url: string,
  signal: AbortSignal,
  redirects = 0,
): Promise<{ body: Record<string, unknown>; headers: Headers }> {
  try {
    const response = await inRequestSpan(url, (headers) =>
      fetch(url, { headers: { accept: 'application/json', ...headers }, redirect: 'manual', signal }),
    );
    const location = response.headers.get('location');
    if (response.status === 200) return { body: await readObject(response, url), headers: response.headers };
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

async function readObject(response: Response, url: string): Promise<Record<string, unknown>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) throw new IssuerError(`Cannot read ${url}: it must have at most ${bodyBytesMax} bytes`);
    chunks.push(chunk);
  }
  const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (typeof parsed !== 'object' || parsed === null) throw new SyntaxError('it is not an object');
  return parsed as Record<string, unknown>;
}

function isKeySet(body: Record<string, unknown>): body is Record<string, unknown> & JSONWebKeySet {
  const { keys } = body;
  return Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'object' && key !== null);
}

/**
 * Returns `max-age` of a `Cache-Control` header (RFC 9111 §5.2.2.1) in seconds; 0 if caching is
 * forbidden.
 */
function readMaxAge(cacheControl: string | null): number | undefined {
  if (cacheControl === null) return undefined;
  if (/\bno-(store|cache)\b/i.test(cacheControl)) return 0;
  const seconds = /\bmax-age="?(\d{1,9})/i.exec(cacheControl)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
