import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JWK } from 'jose';
import { type AuthKeyRow, insertAuthKey, type KeyPurpose, listAuthKeys, rewriteAuthKey } from '../storage/auth-key.ts';
import type { Store } from '../storage/store.ts';
import type { KeyCipher } from './key-cipher.ts';
import { type KeyLifetimes, keyLeadSeconds, scheduleKeys } from './key-schedule.ts';
import { randomId } from './random-id.ts';
import { newSigningJwk, type SigningAlgorithm, type SigningKey, toSigningKey } from './signing-key.ts';

/** The keys of the service, shared by all its processes through the store. */
export interface KeyRing {
  /** The key that signs new access tokens. */
  signingKey(): Promise<SigningKey>;
  /** The key of an id, when tokens that it signed may still be good; an id that is not known yet is looked for in the store. */
  verifyingKey(kid: string | undefined): Promise<SigningKey | undefined>;
  /** What the key set shows (RFC 7517 §5): keys before their use, in use and after it. */
  publicJwks(): Promise<readonly JWK[]>;
  /** Secrets that protect refresh tokens: the first one is used for new tokens. With `reread`, as the store has them now. */
  refreshSecrets(reread?: boolean): Promise<readonly [Buffer, ...Buffer[]]>;
}

/** What a key ring needs. */
export interface KeyRingOptions {
  readonly store: Store;
  readonly cipher: KeyCipher;
  readonly algorithm: SigningAlgorithm;
  readonly lifetimes: KeyLifetimes;
  readonly now: () => number;
}

/** A reading of the store's keys. */
interface Reading {
  readonly signing: readonly (SigningKey & Pick<AuthKeyRow, 'purpose' | 'activatesAt'>)[];
  readonly refresh: readonly ({ readonly secret: Buffer } & Pick<AuthKeyRow, 'purpose' | 'activatesAt'>)[];
  readonly mark: number | undefined;
  readonly readAt: number;
}

const rereadSeconds = 30;
/** Least time between two readings in milliseconds, so that made-up key ids cannot make us ask the store without end. */
const pauseMs = 100;

/**
 * Opens the key ring: makes the first keys when there are none (processes that start at once agree on them), publishes a key of another algorithm when that
 * was chosen, and encrypts keys that were kept in the clear. Fails with `KeyError` when they cannot be read.
 */
export async function openKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  const { store, now, lifetimes } = options;
  await ensureKeys(options);
  let reading = await readKeys(options);
  let startedMs = performance.now();
  let underWay: Promise<Reading> | undefined;

  const reread = (): Promise<Reading> => {
    underWay ??= (async () => {
      await sleep(Math.max(0, startedMs + pauseMs - performance.now()), undefined, { ref: false });
      startedMs = performance.now();
      reading = await readKeys(options);
      return reading;
    })().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  /** What the store has, as far as it is known to have changed; when it cannot be asked, what it had. */
  const current = async (): Promise<Reading> => {
    const age = Math.abs(now() - reading.readAt);
    const mark = store.changeMark();
    const unchanged = mark !== undefined && mark === reading.mark;
    if ((unchanged && age < rereadSeconds) || performance.now() - startedMs < pauseMs) return reading;
    return reread().catch(() => reading);
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
      const find = ({ signing }: Reading) => live(signing).find(({ key }) => key.kid === kid)?.key;
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

/** A new key of a purpose, to be kept. */
export async function makeKey(
  { cipher, algorithm, now }: KeyRingOptions,
  purpose: KeyPurpose,
  place: Pick<AuthKeyRow, 'sequence' | 'activatesAt'>,
): Promise<AuthKeyRow> {
  const signs = purpose === 'access';
  const jwk: JWK = signs ? await newSigningJwk(algorithm) : { kty: 'oct', k: randomBytes(32).toString('base64url') };
  const kid = signs ? (await toSigningKey(jwk, algorithm)).kid : randomId();
  const alg = signs ? algorithm : 'HS256';
  return { purpose, kid, alg, jwk: await cipher.seal(JSON.stringify(jwk)), createdAt: now(), ...place };
}

async function ensureKeys(options: KeyRingOptions): Promise<void> {
  const { store, algorithm, cipher, now } = options;
  for (const purpose of ['access', 'refresh'] as const) {
    const kept = await listAuthKeys(store, purpose);
    const [newest] = kept;
    if (newest === undefined) {
      await insertAuthKey(store, await makeKey(options, purpose, { sequence: 1, activatesAt: now() }));
    } else if (purpose === 'access' && newest.alg !== algorithm) {
      const place = { sequence: newest.sequence + 1, activatesAt: now() + keyLeadSeconds };
      await insertAuthKey(store, await makeKey(options, purpose, place));
    }
    for (const row of kept) {
      const { jwk, outdated } = await cipher.open(row.jwk);
      if (outdated) await rewriteAuthKey(store, { ...row, jwk: await cipher.seal(jwk) });
    }
  }
}

async function readKeys({ store, cipher, now }: KeyRingOptions): Promise<Reading> {
  const mark = store.changeMark(); // before reading: a change meanwhile makes the next caller read again
  const readAt = now();
  const open = async (row: AuthKeyRow) => JSON.parse((await cipher.open(row.jwk)).jwk) as JWK;
  const [access, refresh] = await Promise.all([listAuthKeys(store, 'access'), listAuthKeys(store, 'refresh')]);
  return {
    signing: await Promise.all(
      access.map(async (row) => {
        const { purpose, activatesAt } = row;
        return { ...(await toSigningKey(await open(row), row.alg as SigningAlgorithm)), purpose, activatesAt };
      }),
    ),
    refresh: await Promise.all(
      refresh.map(async (row) => {
        const { purpose, activatesAt } = row;
        return { secret: Buffer.from((await open(row)).k ?? '', 'base64url'), purpose, activatesAt };
      }),
    ),
    mark,
    readAt,
  };
}

function required<T>(key: T | undefined): T {
  if (key === undefined) throw new TypeError('Cannot use the key ring: the store must have keys once it was opened');
  return key;
}
