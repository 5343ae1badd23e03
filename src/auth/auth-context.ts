import type { Store } from '../storage/store.ts';
import type { RefreshTokenUse } from '../storage/tables/client.ts';
import type { FailureBudget } from './failure-budget.ts';
import type { FamilyLimit } from './family-limit.ts';
import type { KeyRing } from './key-ring.ts';

/** Now, in whole UTC epoch seconds; injected so that tests own the time. */
export type Clock = () => number;

/** What an operator may set about tokens; all times in seconds. */
interface AuthSettings {
  /** The issuer: the public URL of the service, without a slash at its end (RFC 8414 §2). */
  readonly issuer: string;
  /** The audience of access tokens: the base URL of the API. */
  readonly audience: string;
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
  /** The end of a refresh family, however often it is refreshed. */
  readonly refreshFamilySeconds: number;
  /** How long the refresh token just replaced still gets the same successor; 0 is strict. */
  readonly refreshGraceSeconds: number;
  /** What becomes of a used refresh token, for clients that were not given a use of their own. */
  readonly refreshTokenUse: RefreshTokenUse;
  /**
   * Whether token answers carry what clients of Keycloak expect beside RFC 6749: `session_state`
   * and `not-before-policy`.
   */
  readonly keycloakMembers: boolean;
}

/** What every part of this room works with. */
export interface AuthContext {
  readonly store: Store;
  readonly keys: KeyRing;
  /** Failed attempts to authenticate at the token endpoint, by client id and address. */
  readonly failures: FailureBudget;
  /** Refresh families of one client that may live at once. */
  readonly families: FamilyLimit;
  readonly settings: AuthSettings;
  readonly now: Clock;
}
