import type { Store } from '../storage/store.ts';
import type { KeyCipher } from './key-cipher.ts';
import type { KeyLifetimes } from './key-schedule.ts';
import type { SigningAlgorithm } from './signing-key.ts';

/** What a key ring needs. */
export interface KeyRingOptions {
  readonly store: Store;
  readonly cipher: KeyCipher;
  readonly algorithm: SigningAlgorithm;
  readonly lifetimes: KeyLifetimes;
  readonly now: () => number;
  /** Told what could not be done about the keys although the service can start. */
  readonly onFault?: (error: unknown) => void;
}
