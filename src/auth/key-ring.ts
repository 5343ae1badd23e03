import { setTimeout as sleep } from 'node:timers/promises';
import type { JWK } from 'jose';
import type { AuthKeyRow } from '../storage/tables/auth-key.ts';
import { ensureKeys } from './ensure-keys.ts';
import { createKeyReader, type KeyReading } from './key-reading.ts';
import type { KeyRingOptions } from './key-ring-options.ts';
import { scheduleKeys } from './key-schedule.ts';
import type { SigningKey } from './signing-key.ts';

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
    try {
      const result = await readKeys();
      if (startedMs === started) reading = result; // a later reading knows more
      return result;
    } catch (error) {
      failedMs = performance.now();
      throw error;
    }
  };
  /**
   * Shares one read between all callers with the same change mark; a read that began under an
   * earlier one may miss the change.
   */
  const readOnce = (changeMark: number | undefined): Promise<KeyReading> => {
    if (underWay !== undefined && changeMark !== undefined && underWay.changeMark === changeMark)
      return underWay.result;
    const started = {
      changeMark,
      result: read().finally(() => {
        if (underWay === started) underWay = undefined;
      }),
    };
    underWay = started;
    return started.result;
  };
  /** Returns the current keys; while the store fails, those of the last read. */
  const current = async (): Promise<KeyReading> => {
    const changeMark = store.changeMark();
    const unchanged = changeMark !== undefined && changeMark === reading.changeMark;
    if (unchanged && Math.abs(now() - reading.readAt) < rereadSeconds) return reading;
    if (performance.now() - failedMs < pauseMs) return reading;
    return readOnce(changeMark).catch(() => reading);
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
