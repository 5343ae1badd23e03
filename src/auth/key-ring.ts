import { setTimeout as sleep } from 'node:timers/promises';
import type { JWK } from 'jose';
import type { AuthKeyRow } from '../storage/tables/auth-key.ts';
import { ensureKeys } from './ensure-keys.ts';
import { createKeyReader, type KeyReading } from './key-reading.ts';
import type { KeyRingOptions } from './key-ring-options.ts';
import { scheduleKeys } from './key-schedule.ts';
import type { SigningKey } from './signing-key.ts';

/** The keys of the service, shared by all its processes through the store. */
export interface KeyRing {
  /** The key that signs new access tokens. */
  signingKey(): Promise<SigningKey>;
  /**
   * The key of an id, when tokens that it signed may still be good; an id that is not known yet is
   * looked for in the store.
   */
  verifyingKey(kid: string | undefined): Promise<SigningKey | undefined>;
  /** What the key set shows (RFC 7517 §5): keys before their use, in use and after it. */
  publicJwks(): Promise<readonly JWK[]>;
  /**
   * Secrets that protect refresh tokens: the first one is used for new tokens. With `reread`, as
   * the store has them now.
   */
  refreshSecrets(reread?: boolean): Promise<readonly [Buffer, ...Buffer[]]>;
}

const rereadSeconds = 30;
/**
 * Least time in milliseconds between two readings that unknown key ids cause, and before a store
 * that failed is asked again.
 */
const pauseMs = 100;

/**
 * Opens the key ring once its keys are what the settings ask for (`ensureKeys`). Throws `KeyError`
 * when they cannot be read.
 */
export async function openKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  const { store, now, lifetimes } = options;
  await ensureKeys(options);
  const readKeys = createKeyReader(options);
  let reading = await readKeys();
  let startedMs = performance.now();
  let failedMs = Number.NEGATIVE_INFINITY;
  let searching: Promise<KeyReading> | undefined;
  let underWay: { readonly mark: number | undefined; readonly result: Promise<KeyReading> } | undefined;

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
   * One reading for all callers that see the same mark; one that began under an earlier mark may
   * lack the change.
   */
  const readOnce = (mark: number | undefined): Promise<KeyReading> => {
    if (underWay !== undefined && mark !== undefined && underWay.mark === mark) return underWay.result;
    const started = {
      mark,
      result: read().finally(() => {
        if (underWay === started) underWay = undefined;
      }),
    };
    underWay = started;
    return started.result;
  };
  /**
   * The keys of the store as far as this process can know; while the store fails, those that were
   * read last.
   */
  const current = async (): Promise<KeyReading> => {
    const mark = store.changeMark();
    const unchanged = mark !== undefined && mark === reading.mark;
    if (unchanged && Math.abs(now() - reading.readAt) < rereadSeconds) return reading;
    if (performance.now() - failedMs < pauseMs) return reading;
    return readOnce(mark).catch(() => reading);
  };
  /** A reading for a key that is not known yet; all who look for one share it. */
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
