import { createKeyCipher } from '../../src/auth/key-cipher.ts';
import type { KeyRingOptions } from '../../src/auth/key-ring-options.ts';
import type { Store } from '../../src/storage/store.ts';

/** Options of a key ring without encryption. */
export const testKeyRing = (store: Store, now: () => number): KeyRingOptions => ({
  store,
  cipher: createKeyCipher(undefined, undefined),
  algorithm: 'ES256',
  lifetimes: { access: 300, refresh: 2_592_000 },
  now,
});
