import { setTimeout as sleep } from 'node:timers/promises';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../../../contract/oauth/grant.ts';
import { type AuthKeyRow, listAuthKeys } from '../../storage/tables/auth-key.ts';
import { ensureKeys, type KeyRingOptions } from './ensure-keys.ts';
import { scheduleKeys } from './key-schedule.ts';
import { type SigningKey, toSigningKey } from './signing-key.ts';

/** The keys of the service. All its processes share them through the store. */
export interface KeyRing {
  /** The key that signs new access tokens. */
  signingKey(): Promise<SigningKey>;
  /**
   * Returns the key with an id while tokens that it signed may be valid. An unknown id is looked up
   * in the store.
   */
  verifyingKey(kid: string | undefined): Promise<SigningKey | undefined>;
  /** Returns the public keys of the key set (RFC 7517 §5): next, current and retiring ones. */
  publicJwks(): Promise<readonly JWK[]>;
  /**
   * Returns the secrets that protect refresh tokens; new tokens use the first one. With `reread`,
   * reads the store again.
   */
  refreshSecrets(reread?: boolean): Promise<readonly [Buffer, ...Buffer[]]>;
}

const rereadSeconds = 30;
/**
 * Minimum time in milliseconds between two reads caused by unknown key ids, and before a failed
 * store is read again.
 */
const pauseMs = 100;

/**
 * Opens the key ring after its keys match the settings (`ensureKeys`). Throws `KeyError` if they
 * cannot be read.
 */
export async function openKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  const { store, now, lifetimes } = options;
  await ensureKeys(options);
  const readKeys = createKeyReader(options);
  let reading = await readKeys();
  let startedMs = performance.now();
  let failedMs = Number.NEGATIVE_INFINITY;
  let searching: Promise<KeyReading> | undefined;
  let underWay: { readonly changeMark: number | undefined; readonly result: Promise<KeyReading> } | undefined;

  const read = async (): Promise<KeyReading> => {
    const started = performance.now();
    startedMs = started;
    const result = await readKeys();
    if (startedMs === started) reading = result; // a later reading knows more
    return result;
  };
  /**
   * Returns the current keys, or the last ones that were read while the store fails. Callers with
   * the same change mark share one read; one that began under an earlier mark may miss the change.
   */
  const current = async (): Promise<KeyReading> => {
    const changeMark = store.changeMark();
    const isKnown = changeMark !== undefined;
    if (isKnown && changeMark === reading.changeMark && Math.abs(now() - reading.readAt) < rereadSeconds)
      return reading;
    if (performance.now() - failedMs < pauseMs) return reading;
    if (!isKnown || underWay?.changeMark !== changeMark) {
      const started = {
        changeMark,
        result: read().finally(() => {
          if (underWay === started) underWay = undefined;
        }),
      };
      underWay = started;
    }
    return underWay.result.catch(() => {
      failedMs = performance.now();
      return reading;
    });
  };
  /** Reads the keys again for an unknown key id; concurrent callers share one read. */
  const reread = (): Promise<KeyReading> => {
    searching ??= sleep(Math.max(0, startedMs + pauseMs - performance.now()), undefined, { ref: false })
      .then(read)
      .finally(() => {
        searching = undefined;
      });
    return searching;
  };
  const live = <T extends Pick<AuthKeyRow, 'purpose' | 'activatesAt'>>(keys: readonly T[]) =>
    scheduleKeys(keys, lifetimes, now()).filter(({ state }) => state !== 'dead');

  return {
    async signingKey() {
      const scheduled = live((await current()).signing);
      return required(scheduled.find(({ state }) => state === 'current')).key;
    },
    async verifyingKey(kid) {
      if (kid === undefined) return undefined;
      const find = ({ signing }: KeyReading) => live(signing).find(({ key }) => key.kid === kid)?.key;
      return find(await current()) ?? find(await reread());
    },
    async publicJwks() {
      return live((await current()).signing).map(({ key }) => key.publicJwk);
    },
    async refreshSecrets(asStored = false) {
      const scheduled = live((await (asStored ? reread() : current())).refresh);
      const inUse = required(scheduled.find(({ state }) => state === 'current'));
      return [inUse.key.secret, ...scheduled.filter((each) => each !== inUse).map(({ key }) => key.secret)];
    },
  };
}

function required<T>(key: T | undefined): T {
  if (key === undefined) throw new TypeError('Cannot use the key ring: the store must have keys once it was opened');
  return key;
}

/** A snapshot of the stored keys, newest first. */
interface KeyReading {
  readonly signing: readonly (SigningKey & Pick<AuthKeyRow, 'purpose' | 'activatesAt'>)[];
  readonly refresh: readonly ({ readonly secret: Buffer } & Pick<AuthKeyRow, 'purpose' | 'activatesAt'>)[];
  /** The store's change mark before the keys were read; `undefined` if it was unknown. */
  readonly changeMark: number | undefined;
  /** UTC epoch seconds. */
  readonly readAt: number;
}

/**
 * Creates the reader of the stored keys. A row that is unchanged since the last read is not
 * decrypted and imported again: on SQLite every commit changes the change mark, so the keys are
 * read about as often as tokens are issued.
 */
function createKeyReader({ store, cipher, now }: KeyRingOptions): () => Promise<KeyReading> {
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
