import type { JWK } from 'jose';
import type { Store } from '../storage/store.ts';
import { type AuthKeyRow, listAuthKeys } from '../storage/tables/auth-key.ts';
import type { KeyCipher } from './key-cipher.ts';
import type { SigningAlgorithm } from './signing-key.ts';
import { type SigningKey, toSigningKey } from './signing-key.ts';

/** A snapshot of the stored keys, newest first. */
export interface KeyReading {
  readonly signing: readonly (SigningKey & Pick<AuthKeyRow, 'purpose' | 'activatesAt'>)[];
  readonly refresh: readonly ({ readonly secret: Buffer } & Pick<AuthKeyRow, 'purpose' | 'activatesAt'>)[];
  /** The store's change mark before the keys were read; `undefined` if it was unknown. */
  readonly changeMark: number | undefined;
  /** UTC epoch seconds. */
  readonly readAt: number;
}

/** What reading the keys needs. */
interface ReaderOptions {
  readonly store: Store;
  readonly cipher: KeyCipher;
  readonly now: () => number;
}

/**
 * Creates the reader of the stored keys. A row that is unchanged since the last read is not
 * decrypted and imported again: on SQLite every commit changes the change mark, so the keys are
 * read about as often as tokens are issued.
 */
export function createKeyReader({ store, cipher, now }: ReaderOptions): () => Promise<KeyReading> {
  const open = async ({ jwk }: AuthKeyRow) => JSON.parse((await cipher.open(jwk)).jwk) as JWK;
  const signingKeys = cacheByRow(async (row) => toSigningKey(await open(row), row.alg as SigningAlgorithm));
  const secrets = cacheByRow(async (row) => Buffer.from((await open(row)).k ?? '', 'base64url'));
  return async () => {
    // before reading: a change meanwhile makes the next caller read again
    const changeMark = store.changeMark();
    const readAt = now();
    const rows = await Promise.all([listAuthKeys(store, 'access'), listAuthKeys(store, 'refresh')]);
    const [signing, refresh] = await Promise.all([signingKeys(rows[0]), secrets(rows[1])]);
    return {
      signing: signing.map(([row, key]) => ({ ...key, ...placeOf(row) })),
      refresh: refresh.map(([row, secret]) => ({ secret, ...placeOf(row) })),
      changeMark,
      readAt,
    };
  };
}

const placeOf = ({ purpose, activatesAt }: AuthKeyRow) => ({ purpose, activatesAt });

/** Applies `make` to each row, or reuses the last result if the row is the same. */
function cacheByRow<T>(make: (row: AuthKeyRow) => Promise<T>) {
  let before: ReadonlyMap<string, T> = new Map();
  return async (rows: readonly AuthKeyRow[]): Promise<readonly (readonly [AuthKeyRow, T])[]> => {
    const made = await Promise.all(rows.map(async (row) => [row, before.get(row.jwk) ?? (await make(row))] as const));
    before = new Map(made.map(([{ jwk }, value]) => [jwk, value]));
    return made;
  };
}
