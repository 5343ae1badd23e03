import type { KeyRingOptions } from '../../packages/service/auth/keys/ensure-keys.ts';
import { createKeyCipher } from '../../packages/service/auth/keys/key-cipher.ts';
import { type DueKey, planNextKey, rotateDueKeys } from '../../packages/service/auth/keys/rotate-keys.ts';
import type { Store } from '../../packages/service/storage/store.ts';

/** Options of a key ring without encryption. */
export const testKeyRing = (store: Store, now: () => number): KeyRingOptions => ({
  store,
  cipher: createKeyCipher(undefined, undefined),
  algorithm: 'ES256',
  lifetimes: { access: 300, refresh: 2_592_000 },
  now,
});

/** Rotates a key without an entry of the audit log. */
export const rotateKeys = async (options: KeyRingOptions, ...how: Rotation) =>
  options.store.transact(await planNextKey(options, ...how));

type Rotation = Parameters<typeof planNextKey> extends [unknown, ...infer Rest] ? Rest : never;

/** Rotates the keys that are due without an entry of the audit log, and returns the new ones. */
export async function rotateDue(options: KeyRingOptions): Promise<readonly DueKey[]> {
  const made: DueKey[] = [];
  await rotateDueKeys(options, async (_directory, key) => () => void made.push(key));
  return made;
}
