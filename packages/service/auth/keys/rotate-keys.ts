import type { Directory } from '../../storage/store.ts';
import { type AuthKeyRow, type KeyPurpose, listAuthKeys } from '../../storage/tables/auth-key.ts';
import { deleteAuthKeys, insertAuthKey } from '../../storage/tables/auth-key-changes.ts';
import { KeyError } from '../error.ts';
import { type KeyRingOptions, makeKey } from './ensure-keys.ts';
import { clockSeconds, type KeyState, keyLeadSeconds, scheduleKeys } from './key-schedule.ts';

/** A key as an operator sees it, without any secret. Times are UTC epoch seconds. */
export interface KeyInfo extends Pick<AuthKeyRow, 'purpose' | 'kid' | 'alg' | 'createdAt' | 'activatesAt'> {
  readonly state: KeyState;
  /** When the last token made with it expires; `null` while it has no successor. */
  readonly endsAt: number | null;
  /** Of the current key, when it is rotated automatically; `null` if never, and of other keys. */
  readonly rotationDueAt: number | null;
  /** Whether it is encrypted in the store. */
  readonly encrypted: boolean;
}

/**
 * When a new key takes over.
 * - `soon`: after every process and every cached key set has it; no request fails.
 * - `now`: immediately; a verifier whose cached key set lacks it must fetch the key set again.
 * - `compromised`: immediately, and all older keys are deleted: tokens made with them are rejected
 *   from then on.
 */
export type RotationMode = 'soon' | 'now' | 'compromised';

/** Returns the keys of the service, newest first. */
export async function listKeys(
  options: Pick<KeyRingOptions, 'lifetimes' | 'rotationDays' | 'now'> & { readonly store: Directory },
): Promise<readonly KeyInfo[]> {
  const { store, lifetimes, rotationDays = 0, now } = options;
  const purposes = await Promise.all([listAuthKeys(store, 'access'), listAuthKeys(store, 'refresh')]);
  return purposes.flatMap((rows) => {
    const { dueAt } = planRotation(rows, rotationDays, now());
    return scheduleKeys(rows, lifetimes, now()).map(({ key: { jwk, sequence: _, ...key }, state, endsAt }) => ({
      ...key,
      ...{ state, endsAt, rotationDueAt: state === 'current' ? dueAt : null, encrypted: !jwk.startsWith('{') },
    }));
  });
}

/**
 * Makes the next key of a purpose, and returns the function that adds it and deletes the dead ones.
 * Both throw `KeyError` if a next key exists already, unless the mode is `now` or `compromised`.
 */
export async function planNextKey(
  options: KeyRingOptions,
  purpose: KeyPurpose,
  mode: RotationMode,
): Promise<(directory: Directory) => Promise<KeyInfo>> {
  const { store, lifetimes, now } = options;
  const rows = await listAuthKeys(store, purpose);
  const scheduled = scheduleKeys(rows, lifetimes, now());
  const waiting = scheduled.find(({ state }) => state === 'next');
  if (mode === 'soon' && waiting !== undefined) {
    throw new KeyError(
      'CONFLICT',
      `Cannot rotate the ${purpose} key: no other new key may be waiting: ${waiting.key.kid} becomes active in ${waiting.key.activatesAt - now()} seconds`,
    );
  }
  const activatesAt = mode === 'soon' ? now() + keyLeadSeconds : now();
  const made = await makeKey(options, purpose, { newest: rows[0], activatesAt });
  const old = scheduled.filter(({ state }) => mode === 'compromised' || state === 'dead').map(({ key }) => key);
  return async (directory) => {
    if (!(await insertAuthKey(directory, made))) {
      throw new KeyError(
        'CONFLICT',
        `Cannot rotate the ${purpose} key: no other process may rotate it at the same time; see subreport keys list`,
      );
    }
    if (old.length > 0) await deleteAuthKeys(directory, old);
    const info = (await listKeys({ ...options, store: directory })).find(({ kid }) => kid === made.kid);
    if (info === undefined)
      throw new TypeError('Cannot return the new key: it must be in the store after it was inserted');
    return info;
  };
}

/** A new key that replaces one that was due. */
export type DueKey = Pick<AuthKeyRow, 'purpose' | 'kid' | 'activatesAt'>;

/** Records a new key in its transaction, and returns what to do once that is committed. */
type RecordDueKey = (directory: Directory, key: DueKey) => Promise<() => void>;

/**
 * Keys that stay even if they are dead: the current one and its predecessor, whose tokens are valid
 * if this clock is ahead.
 */
const keptMin = 2;

/**
 * Creates the next key of each purpose whose current key has been in use for `rotationDays`, with
 * the lead time of `rotateKeys`. Of several processes that find the same key due, one creates its
 * successor.
 */
export async function rotateDueKeys(options: KeyRingOptions, record: RecordDueKey): Promise<void> {
  for (const purpose of ['access', 'refresh'] as const) await rotateIfDue(options, purpose, record);
}

async function rotateIfDue(options: KeyRingOptions, purpose: KeyPurpose, record: RecordDueKey): Promise<void> {
  const { store, lifetimes, rotationDays = 0, now } = options;
  const rows = await listAuthKeys(store, purpose);
  const { dueAt, isWaiting } = planRotation(rows, rotationDays, now());
  if (dueAt === null || isWaiting || now() < dueAt) return;
  const key = await makeKey(options, purpose, { newest: rows[0], activatesAt: now() + keyLeadSeconds });
  const old = scheduleKeys(rows, lifetimes, now()).slice(keptMin);
  const dead = old.filter(({ state }) => state === 'dead').map((each) => each.key);
  const written = await store.transact(async (directory) => {
    if (!(await insertAuthKey(directory, key))) return undefined; // another process was faster
    if (dead.length > 0) await deleteAuthKeys(directory, dead);
    return record(directory, { purpose, kid: key.kid, activatesAt: key.activatesAt });
  });
  written?.();
}

/** When a purpose needs its next key. */
interface RotationPlan {
  /** When the current key must be replaced, in UTC epoch seconds; `null` if never. */
  readonly dueAt: number | null;
  /** Whether a new key will take over within the lead time. */
  readonly isWaiting: boolean;
}

/**
 * Plans the rotation of one purpose by the age of its current key, given the keys newest first and
 * the days for which a key is used; 0 means without a limit. A new key that takes over later than
 * after the lead time was created by a clock that was ahead: it does not delay the rotation.
 */
export function planRotation(
  keys: readonly Pick<AuthKeyRow, 'purpose' | 'activatesAt'>[],
  days: number,
  nowSeconds: number,
): RotationPlan {
  const current = keys.find(({ activatesAt }) => activatesAt <= nowSeconds) ?? keys.at(-1);
  const latest = nowSeconds + keyLeadSeconds + clockSeconds;
  return {
    dueAt: current === undefined || days === 0 ? null : current.activatesAt + days * secondsPerDay,
    isWaiting: keys.some(({ activatesAt }) => activatesAt > nowSeconds && activatesAt <= latest),
  };
}

const secondsPerDay = 86_400;
