import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { IssuerError } from '../error.ts';
import { fetchIssuerMetadata, fetchJson, isKeysUrlOf, issuerTimeoutMs } from './fetch-issuer-metadata.ts';

/** Cache lifetime of a key set in seconds. */
const freshSeconds = 600;
/**
 * Minimum time between two fetches caused by tokens with an unknown key, and between two attempts
 * to refresh a cached key set.
 */
const coolDownSeconds = 30;

interface IssuerKeys {
  /**
   * Returns the key of a token. Throws a `JOSEError` if the issuer has no such key, `IssuerError`
   * if that cannot be determined now.
   */
  readonly find: JWTVerifyGetKey;
  /** Fetches the keys again, once for all concurrent callers. Rejects with `IssuerError`. */
  readonly load: () => Promise<void>;
  /** A number that changes when other keys replace the known ones. */
  readonly mark: () => number;
  /** Starts a background refresh of the keys once their cache time is over. */
  readonly renewWhenDue: () => void;
}

interface IssuerKeysOptions {
  readonly issuer: string;
  /** A monotonic clock in seconds. */
  readonly elapsedSeconds: () => number;
  /** Called for each failed fetch. */
  readonly onFault: (error: IssuerError) => void;
}

interface KeySet {
  readonly find: JWTVerifyGetKey;
  readonly json: string;
}

/**
 * Creates the cache of an issuer's keys. The last fetched keys stay in use while the issuer cannot
 * be reached.
 */
export function createIssuerKeys({ issuer, elapsedSeconds, onFault }: IssuerKeysOptions): IssuerKeys {
  let known: KeySet | undefined;
  let reading: Promise<KeySet> | undefined;
  /** Why the last fetch failed; `undefined` if it did not. */
  let fault: IssuerError | undefined;
  let failedAt = 0;
  let renewAt = 0;
  let mark = 0;
  let searchAt = 0;

  const read = async (): Promise<KeySet> => {
    try {
      const keys = await fetchIssuerKeys(issuer);
      const json = JSON.stringify(keys);
      const changed = known !== undefined && known.json !== json;
      if (known === undefined || changed) known = { find: createLocalJWKSet(keys), json };
      fault = undefined;
      renewAt = elapsedSeconds() + freshSeconds;
      if (changed) mark += 1;
      return known;
    } catch (error) {
      fault = toIssuerError(error);
      failedAt = elapsedSeconds();
      renewAt = elapsedSeconds() + coolDownSeconds;
      onFault(fault);
      throw fault;
    } finally {
      reading = undefined;
    }
  };
  const readOnce = (): Promise<KeySet> => {
    reading ??= read();
    return reading;
  };

  /**
   * Fetches the first keys. After a failed fetch, throws the same error until its
   * `retryAfterSeconds` have passed.
   */
  const readFirst = (): Promise<KeySet> => {
    if (reading === undefined && fault !== undefined && elapsedSeconds() < failedAt + fault.retryAfterSeconds)
      throw fault;
    return readOnce();
  };
  /**
   * Fetches the keys again, as the issuer may already sign with a new one. Made-up key ids cause
   * one fetch per cool-down.
   */
  const search = async (cached: KeySet): Promise<KeySet> => {
    if (reading === undefined) {
      if (elapsedSeconds() < searchAt) {
        if (fault !== undefined) throw fault;
        return cached;
      }
      searchAt = elapsedSeconds() + coolDownSeconds;
    }
    return readOnce();
  };

  return {
    async find(header, token) {
      const cached = known;
      try {
        return await (cached ?? (await readFirst())).find(header, token);
      } catch (error) {
        if (cached === undefined || !(error instanceof errors.JWKSNoMatchingKey)) throw error;
        return (await search(cached)).find(header, token);
      }
    },
    load: async () => {
      await readOnce();
    },
    mark: () => mark,
    renewWhenDue() {
      if (known !== undefined && reading === undefined && elapsedSeconds() >= renewAt)
        void readOnce().catch(() => undefined); // onFault has it
    },
  };
}

/** A key set that jose rejects is a fault of the issuer, never of the token. */
const toIssuerError = (error: unknown): IssuerError =>
  error instanceof IssuerError
    ? error
    : new IssuerError(`Cannot use the key set of the external issuer: ${String(error)}`, { cause: error });

/**
 * Fetches the discovery document of an issuer, whose `issuer` must be equal (RFC 8414 §3.3), and
 * its key set (RFC 7517 §5). Throws `IssuerError` on any failure.
 */
async function fetchIssuerKeys(issuer: string): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(issuerTimeoutMs);
  const { jwks_uri: keysUrl } = await fetchIssuerMetadata(issuer, signal);
  if (typeof keysUrl !== 'string' || !isKeysUrlOf(issuer, keysUrl)) {
    throw new IssuerError(
      `Cannot use the discovery document of the external issuer: its jwks_uri must be an https URL: current value is '${keysUrl}'`,
    );
  }
  const body = await fetchJson(keysUrl, signal);
  if (!isKeySet(body)) {
    throw new IssuerError(`Cannot use the key set of the external issuer: ${keysUrl} must return at least one key`);
  }
  return body;
}

function isKeySet(body: Record<string, unknown>): body is Record<string, unknown> & JSONWebKeySet {
  const { keys } = body;
  return Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'object' && key !== null);
}
