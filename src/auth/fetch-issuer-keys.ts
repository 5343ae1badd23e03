import type { JSONWebKeySet } from 'jose';
import { IssuerError } from './error.ts';
import { fetchIssuerMetadata, fetchJson, issuerTimeoutMs } from './fetch-issuer-metadata.ts';
import { isKeysUrlOf } from './secure-url.ts';

/** The fetched key set of an issuer. */
interface FetchedKeys {
  readonly keys: JSONWebKeySet;
  /** Cache time that the issuer allows, in seconds; `undefined` if it sends no `max-age`. */
  readonly maxAgeSeconds: number | undefined;
}

/**
 * Fetches the discovery document of an issuer, whose `issuer` must be equal (RFC 8414 §3.3), and
 * its key set (RFC 7517 §5). Throws `IssuerError` on any failure.
 */
export async function fetchIssuerKeys(issuer: string): Promise<FetchedKeys> {
  const signal = AbortSignal.timeout(issuerTimeoutMs);
  const { jwks_uri: keysUrl } = await fetchIssuerMetadata(issuer, signal);
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
