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
  /** Days after which a key is rotated automatically; 0 or absent: never. */
  readonly rotationDays?: number;
  readonly now: () => number;
  /** Called for a fault of the keys that does not keep the service from starting. */
  readonly onFault?: (error: unknown) => void;
}
