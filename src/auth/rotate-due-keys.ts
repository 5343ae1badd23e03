import type { Directory } from '../storage/store.ts';
import { deleteAuthKeys, insertAuthKey, type KeyPurpose, listAuthKeys } from '../storage/tables/auth-key.ts';
import { makeKey } from './ensure-keys.ts';
import type { KeyRingOptions } from './key-ring-options.ts';
import { keyLeadSeconds, planRotation, scheduleKeys } from './key-schedule.ts';

/** The rotation of the keys of one purpose by their age. Times are UTC epoch seconds. */
export interface KeyRotation {
  readonly purpose: KeyPurpose;
  /** When the current key became active. */
  readonly activeSince: number;
  /** When the current key must be replaced; `null` if never. */
  readonly dueAt: number | null;
}

/** A new key that replaces one that was due. */
export interface DueKey {
  readonly purpose: KeyPurpose;
  readonly kid: string;
  /** UTC epoch seconds. */
  readonly activatesAt: number;
}

/** Records a new key in its transaction, and returns what to do once that is committed. */
type RecordDueKey = (directory: Directory, key: DueKey) => Promise<() => void>;

const purposes = ['access', 'refresh'] as const;

/**
 * Keys that stay even if they are dead: the current one and its predecessor, whose tokens are valid
 * if this clock is ahead.
 */
const keptMin = 2;

/** Returns the age of the current key of each purpose, and when its rotation is due. */
export async function listRotations(
  options: Pick<KeyRingOptions, 'store' | 'rotationDays' | 'now'>,
): Promise<readonly KeyRotation[]> {
  const { store, rotationDays = 0, now } = options;
  const rows = await Promise.all(purposes.map((purpose) => listAuthKeys(store, purpose)));
  return purposes.flatMap((purpose, index) => {
    const plan = planRotation(rows[index] ?? [], rotationDays, now());
    return plan === undefined ? [] : [{ purpose, activeSince: plan.activeSince, dueAt: plan.dueAt }];
  });
}

/**
 * Creates the next key of each purpose whose current key has been in use for `rotationDays`, with
 * the lead time of `rotateKeys`. Of several processes that find the same key due, one creates its
 * successor.
 */
export async function rotateDueKeys(options: KeyRingOptions, record: RecordDueKey): Promise<void> {
  for (const purpose of purposes) await rotateIfDue(options, purpose, record);
}

async function rotateIfDue(options: KeyRingOptions, purpose: KeyPurpose, record: RecordDueKey): Promise<void> {
  const { store, lifetimes, rotationDays = 0, now } = options;
  const rows = await listAuthKeys(store, purpose);
  const plan = planRotation(rows, rotationDays, now());
  if (plan === undefined || plan.dueAt === null || plan.isWaiting || now() < plan.dueAt) return;
  const place = { sequence: (rows[0]?.sequence ?? 0) + 1, activatesAt: now() + keyLeadSeconds };
  const key = await makeKey(options, purpose, place);
  const old = scheduleKeys(rows, lifetimes, now()).slice(keptMin);
  const dead = old.filter(({ state }) => state === 'dead').map((each) => each.key);
  const written = await store.transact(async (directory) => {
    if (!(await insertAuthKey(directory, key))) return undefined; // another process was faster
    if (dead.length > 0) await deleteAuthKeys(directory, dead);
    return record(directory, { purpose, kid: key.kid, activatesAt: key.activatesAt });
  });
  written?.();
}
