import { createTextCipher } from '../auth/keys/key-cipher.ts';
import type { Directory, Store } from '../storage/store.ts';
import {
  freeIdempotencyKey,
  type IdempotencyKey,
  keysMax,
  storeKeyedResponse,
  takeIdempotencyKey,
} from '../storage/tables/idempotency-key.ts';
import { OperatorError } from './error.ts';

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest extends IdempotencyKey {
  /** Hash of all that the response depends on. */
  readonly fingerprint: string;
  /** The caller's token, with which the stored response is encrypted. */
  readonly token: string;
}

export interface KeyedResponse {
  readonly status: number;
  readonly body: string;
}

/** Time for which a response is stored, in seconds. */
const retentionSeconds = 86_400;

/** Seconds without a response after which the process must have ended and the key is free. */
const abandonedSeconds = 600;

/** Stores the response in the transaction of the action that it is about. */
export type KeepResponse = (directory: Directory, response: KeyedResponse) => Promise<void>;

/**
 * Runs a request once for each key, and repeats its response to later requests with the same key
 * (draft-ietf-httpapi-idempotency-key-header). `work` keeps the response with what it changes: both
 * are stored, or neither. A request that fails frees its key. Throws `OperatorError` `CONFLICT`
 * while the first request runs, `KEY_REUSED` for another request, `TOO_MANY` for one key too many.
 */
export async function performOnce(
  { store, now, onFault }: { store: Store; now: () => number; onFault: (error: unknown) => void },
  request: KeyedRequest,
  work: (keep: KeepResponse) => Promise<KeyedResponse>,
): Promise<KeyedResponse & { readonly isReplayed: boolean }> {
  const { fingerprint, token } = request;
  const createdAt = now();
  const first = await takeIdempotencyKey(
    store,
    request,
    { fingerprint, createdAt },
    { expiredBefore: createdAt - retentionSeconds, abandonedBefore: createdAt - abandonedSeconds },
  );
  if (first === 'full') throw tooManyKeys();
  if (first !== undefined) {
    if (first.fingerprint !== fingerprint) throw keyReused();
    if (first.response === null) throw stillRunning();
    const { status, body } = first.response;
    const opened = await cipherOf(token).decrypt(body);
    if (opened === undefined) throw usedInOtherSession();
    return { status, body: opened, isReplayed: true };
  }
  const keep: KeepResponse = async (directory, { status, body }) => {
    const sealed = { status, body: await cipherOf(token).encrypt(body) };
    if (!(await storeKeyedResponse(directory, request, createdAt, sealed))) throw stillRunning();
  };
  const response = await work(keep).catch(async (error: unknown) => {
    await freeIdempotencyKey(store, request, createdAt).catch(onFault);
    throw error;
  });
  return { ...response, isReplayed: false };
}

const keyReused = () =>
  new OperatorError(
    'KEY_REUSED',
    'Cannot repeat the request: its Idempotency-Key must not have been used for a request with another path or body',
  );

const usedInOtherSession = () =>
  new OperatorError(
    'KEY_REUSED',
    'Cannot repeat the request: its Idempotency-Key must not have been used in another session of the console',
  );

const tooManyKeys = () =>
  new OperatorError(
    'TOO_MANY',
    `Cannot keep another response: an operator's token must have sent at most ${keysMax} different Idempotency-Keys within 24 hours; send the request without one, or try again later`,
  );

const stillRunning = () =>
  new OperatorError(
    'CONFLICT',
    'Cannot repeat the request: the first one with this Idempotency-Key must have ended; try again shortly',
  );

/**
 * Encrypts a response with a key derived from the caller's token. The service stores only the
 * token's hash, so a reader of the store cannot decrypt the response.
 */
const cipherOf = (token: string) => createTextCipher(token, 'idempotency_key');
