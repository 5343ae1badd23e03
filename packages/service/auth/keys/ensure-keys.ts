import { randomBytes } from 'node:crypto';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../../../contract/oauth/grant.ts';
import type { Store } from '../../storage/store.ts';
import { type AuthKeyRow, type KeyPurpose, listAuthKeys } from '../../storage/tables/auth-key.ts';
import { deleteAuthKeys, insertAuthKey, rewriteAuthKey } from '../../storage/tables/auth-key-changes.ts';
import { randomId } from '../random-id.ts';
import type { KeyCipher, OpenedKey } from './key-cipher.ts';
import { type KeyLifetimes, keyLeadSeconds } from './key-schedule.ts';
import { isStrongEnough, newSigningJwk, toSigningKey } from './signing-key.ts';

export interface KeyRingOptions {
  readonly store: Store;
  readonly cipher: KeyCipher;
  readonly algorithm: SigningAlgorithm;
  readonly lifetimes: KeyLifetimes;
  /** Days after which a key is rotated automatically; 0 or absent: never. */
  readonly rotationDays?: number;
  readonly now: () => number;
  /** Called for a fault of the keys that does not prevent the service from starting. */
  readonly onFault?: (error: unknown) => void;
}

interface StoredKey extends OpenedKey {
  readonly row: AuthKeyRow;
}

/**
 * Makes the stored keys match the settings; processes that start at the same time agree on them.
 * Throws `KeyError` if the keys cannot be read.
 * - Creates the first keys if there are none.
 * - Replaces a key of another algorithm, or one that is too short, as a rotation does: the new key
 *   is published before it is used.
 * - Re-encrypts a key that is encrypted under the previous secret.
 * - Once a secret is configured, replaces and deletes a key that was stored unencrypted: anyone who
 *   has read the store or a backup has it, so encrypting it would not help. Tokens made with it are
 *   rejected from then on.
 */
export async function ensureKeys(options: KeyRingOptions): Promise<void> {
  const { store, onFault } = options;
  const replaced = [await ensureKeysOf(options, 'access'), await ensureKeysOf(options, 'refresh')];
  if (replaced.includes(true)) await store.eraseRemovedKeys().catch((error: unknown) => onFault?.(error));
}

/** Does this for one purpose; returns whether unencrypted keys were deleted. */
async function ensureKeysOf(options: KeyRingOptions, purpose: KeyPurpose): Promise<boolean> {
  const { store, cipher, now } = options;
  const rows = await listAuthKeys(store, purpose);
  const stored = await Promise.all(rows.map(async (row) => ({ row, ...(await cipher.open(row.jwk)) })));
  const exposed = cipher.encrypts ? stored.filter((key) => key.storedAs === 'clear') : [];
  const [newest] = stored;
  // another process may have just added one
  const add = async (activatesAt: number) =>
    insertAuthKey(store, await makeKey(options, purpose, { newest: newest?.row, activatesAt }));
  if (newest === undefined || exposed.length > 0) await add(now());
  else if (purpose === 'access' && !fits(options, newest)) await add(now() + keyLeadSeconds);
  for (const { row, jwk } of stored.filter((key) => key.storedAs === 'previous')) {
    await rewriteAuthKey(store, { ...row, jwk: await cipher.seal(jwk) });
  }
  const exposedRows = exposed.map(({ row }) => row);
  if (exposed.length > 0) await deleteAuthKeys(store, exposedRows);
  return exposed.length > 0;
}

const fits = ({ algorithm }: KeyRingOptions, { row, jwk }: StoredKey): boolean =>
  row.alg === algorithm && isStrongEnough(JSON.parse(jwk) as JWK);

/** Creates the key that follows the newest one of a purpose, as a row to store. */
export async function makeKey(
  { cipher, algorithm, now }: KeyRingOptions,
  purpose: KeyPurpose,
  { newest, activatesAt }: { readonly newest: AuthKeyRow | undefined; readonly activatesAt: number },
): Promise<AuthKeyRow> {
  const sequence = (newest?.sequence ?? 0) + 1;
  const signs = purpose === 'access';
  const jwk: JWK = signs ? await newSigningJwk(algorithm) : { kty: 'oct', k: randomBytes(32).toString('base64url') };
  const kid = signs ? (await toSigningKey(jwk, algorithm)).kid : randomId();
  const alg = signs ? algorithm : 'HS256';
  return { purpose, sequence, kid, alg, jwk: await cipher.seal(JSON.stringify(jwk)), createdAt: now(), activatesAt };
}
