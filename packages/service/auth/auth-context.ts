import type { Store } from '../storage/store.ts';
import type { RefreshTokenUse } from '../storage/tables/client.ts';
import type { FailureBudget } from './failure-budget.ts';
import type { KeyRing } from './keys/key-ring.ts';

/** The current time in whole UTC epoch seconds; injected so that tests control it. */
export type Clock = () => number;

/** Lifetimes of a session of a console, in seconds. */
export interface SessionLimits {
  /** Time without use after which it ends. */
  readonly sessionIdleSeconds: number;
  /** Maximum age, however often it is used. */
  readonly sessionSeconds: number;
}

/** Settings of tokens; all times in seconds. */
interface AuthSettings extends SessionLimits {
  /** The issuer: the public URL of the service, without a trailing slash (RFC 8414 §2). */
  readonly issuer: string;
  /** The audience of access tokens: the base URL of the API. */
  readonly audience: string;
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
  /** Maximum age of a refresh family, however often it is refreshed. */
  readonly refreshFamilySeconds: number;
  /** Active refresh families of a client; the least recently used ones end. */
  readonly refreshFamiliesMax: number;
  /** How long the previous refresh token still returns the same successor; 0 disables this. */
  readonly refreshGraceSeconds: number;
  /**
   * Whether a used refresh token is replaced; the default for clients without their own setting.
   */
  readonly refreshTokenUse: RefreshTokenUse;
}

/** The dependencies of all functions of `auth`. */
export interface AuthContext {
  readonly store: Store;
  readonly keys: KeyRing;
  /** Limits failed attempts to authenticate at the token endpoint, per client id and address. */
  readonly failures: FailureBudget;
  readonly settings: AuthSettings;
  readonly now: Clock;
}
