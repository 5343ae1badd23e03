import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { IssuerError } from './error.ts';
import { fetchIssuerKeys } from './fetch-issuer-keys.ts';

/**
 * Bounds of how long a key set is taken as it was read, in seconds, and what holds when the issuer
 * does not say.
 */
const freshSeconds = { min: 300, default: 600, max: 86_400 };
/**
 * Least time between two readings that tokens with an unknown key cause, and between two tries to
 * renew a key set that is kept.
 */
const coolDownSeconds = 30;

/** The keys of an external issuer, kept. */
interface IssuerKeys {
  /**
   * The key of a token. Fails with a `JOSEError` when the issuer has no such key, with
   * `IssuerError` when that cannot be known now.
   */
  readonly find: JWTVerifyGetKey;
  /** Reads the keys anew, once at a time for all who ask. Rejects with `IssuerError`. */
  readonly load: () => Promise<void>;
  /** Begins to read the keys anew when they have been kept for long enough; nobody waits for it. */
  readonly renewWhenDue: () => void;
}

/** What the keeper of the keys tells and needs. */
interface IssuerKeysOptions {
  readonly issuer: string;
  /** Seconds of a monotonic clock. */
  readonly elapsedSeconds: () => number;
  /** Told of each reading that failed. */
  readonly onFault: (error: IssuerError) => void;
  /** Told when other keys have taken the place of those that were known. */
  readonly onChange: () => void;
}

interface KeySet {
  readonly find: JWTVerifyGetKey;
  readonly text: string;
}

/**
 * Keeps the keys of an issuer: those read last stay in use for as long as the issuer cannot be
 * reached.
 */
export function createIssuerKeys({ issuer, elapsedSeconds, onFault, onChange }: IssuerKeysOptions): IssuerKeys {
  let known: KeySet | undefined;
  let reading: Promise<KeySet> | undefined;
  /** Why the last reading failed; `undefined` when it did not. */
  let fault: IssuerError | undefined;
  let failedAt = 0;
  let renewAt = 0;
  let searchAt = 0;

  const read = async (): Promise<KeySet> => {
    try {
      const { keys, maxAgeSeconds = freshSeconds.default } = await fetchIssuerKeys(issuer);
      const text = JSON.stringify(keys);
      const changed = known !== undefined && known.text !== text;
      if (known === undefined || changed) known = { find: createLocalJWKSet(keys), text };
      fault = undefined;
      renewAt = elapsedSeconds() + Math.min(Math.max(maxAgeSeconds, freshSeconds.min), freshSeconds.max);
      if (changed) onChange();
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
   * The first keys; after a try that failed, the next one waits for as long as clients are told to.
   */
  const readFirst = (): Promise<KeySet> => {
    if (reading === undefined && fault !== undefined && elapsedSeconds() < failedAt + fault.retryAfterSeconds)
      throw fault;
    return readOnce();
  };
  /**
   * The keys once more, as the issuer may sign with a new one already; made-up key ids cause one
   * reading in a cool-down.
   */
  const search = async (kept: KeySet): Promise<KeySet> => {
    if (reading === undefined) {
      if (elapsedSeconds() < searchAt) {
        if (fault !== undefined) throw fault;
        return kept;
      }
      searchAt = elapsedSeconds() + coolDownSeconds;
    }
    return readOnce();
  };

  return {
    async find(header, token) {
      const kept = known;
      try {
        return await (kept ?? (await readFirst())).find(header, token);
      } catch (error) {
        if (kept === undefined || !(error instanceof errors.JWKSNoMatchingKey)) throw error;
        return (await search(kept)).find(header, token);
      }
    },
    load: async () => {
      await readOnce();
    },
    renewWhenDue() {
      if (known !== undefined && reading === undefined && elapsedSeconds() >= renewAt)
        void readOnce().catch(() => undefined); // told by onFault
    },
  };
}

/** A key set that jose cannot take is a fault of the issuer too, never of the token. */
const toIssuerError = (error: unknown): IssuerError =>
  error instanceof IssuerError
    ? error
    : new IssuerError(`Cannot use the key set of the external issuer: ${String(error)}`, { cause: error });
