import { type Directory, directoryStatement, type Row } from '../store.ts';

/** Which request a response belongs to: a key is unique for each operator and operation. */
export interface IdempotencyKey {
  readonly operatorId: string;
  readonly operation: string;
  readonly key: string;
}

/** The first request with a key. */
interface KeyedRequest {
  readonly fingerprint: string;
  /** UTC epoch seconds. */
  readonly createdAt: number;
  /** `null` while it runs. */
  readonly response: { readonly status: number; readonly body: string } | null;
}

const sweepRowsMax = 500;

/** Most keys of an operator: each keeps a response of about a kilobyte for a day. */
export const keysMax = 10_000;

/**
 * Takes a key for a request; returns `undefined` if it was free, otherwise the request that has it,
 * or `'full'` if the operator has `keysMax` keys. A key is free again if its request is from before
 * `expiredBefore`, or if it has no response and is from before `abandonedBefore`.
 */
export async function takeIdempotencyKey(
  store: Directory,
  { operatorId, operation, key }: IdempotencyKey,
  { fingerprint, createdAt }: Pick<KeyedRequest, 'fingerprint' | 'createdAt'>,
  { expiredBefore, abandonedBefore }: { readonly expiredBefore: number; readonly abandonedBefore: number },
): Promise<KeyedRequest | 'full' | undefined> {
  const results = await store.writeDirectory([
    directoryStatement(
      `delete from idempotency_key where (operator_id, operation, idempotency_key) in (
         select operator_id, operation, idempotency_key from idempotency_key where created_at < $1 limit $2)`,
      [expiredBefore, sweepRowsMax],
    ),
    directoryStatement(
      `insert into idempotency_key as k (operator_id, operation, idempotency_key, fingerprint, created_at)
       select $1, $2, $3, $4, cast($5 as bigint) where (select count(*) from idempotency_key where operator_id = $1) < $8
       on conflict (operator_id, operation, idempotency_key)
       do update set fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = null, response = null
       where k.created_at < $6 or (k.status is null and k.created_at < $7)
       returning idempotency_key`,
      [operatorId, operation, key, fingerprint, createdAt, expiredBefore, abandonedBefore, keysMax],
    ),
    directoryStatement(
      `select fingerprint, created_at, status, response from idempotency_key
       where operator_id = $1 and operation = $2 and idempotency_key = $3`,
      [operatorId, operation, key],
    ),
  ]);
  const [taken, found] = results.slice(-2);
  const [row] = found ?? [];
  if (taken?.length === 1) return undefined;
  return row === undefined ? 'full' : toRequest(row);
}

/**
 * Stores the response to the request that took a key at `createdAt`; returns `false` if another
 * request has taken it since.
 */
export async function storeKeyedResponse(
  store: Directory,
  { operatorId, operation, key }: IdempotencyKey,
  createdAt: number,
  { status, body }: { readonly status: number; readonly body: string },
): Promise<boolean> {
  const [stored] = await store.writeDirectory([
    directoryStatement(
      `update idempotency_key set status = $5, response = $6
       where operator_id = $1 and operation = $2 and idempotency_key = $3 and created_at = $4 and status is null
       returning idempotency_key`,
      [operatorId, operation, key, createdAt, status, body],
    ),
  ]);
  return stored?.length === 1;
}

/** Frees a key whose request, which took it at `createdAt`, failed. */
export async function freeIdempotencyKey(
  store: Directory,
  { operatorId, operation, key }: IdempotencyKey,
  createdAt: number,
): Promise<void> {
  await store.writeDirectory([
    directoryStatement(
      `delete from idempotency_key
       where operator_id = $1 and operation = $2 and idempotency_key = $3 and created_at = $4 and status is null`,
      [operatorId, operation, key, createdAt],
    ),
  ]);
}

function toRequest({ fingerprint, created_at, status, response }: Row): KeyedRequest {
  return {
    fingerprint: String(fingerprint),
    createdAt: Number(created_at),
    response: status == null ? null : { status: Number(status), body: String(response) },
  };
}
