import type { Static } from 'typebox';
import type { Operation } from '../operations.ts';
import { Type } from '../type.ts';

/**
 * Requests about the session of a console, the same on both listeners. They are for the pages of
 * this service only, so they are not part of the API contract
 * (docs/decisions/console.md#console-sessions).
 */
export const consoleOperations = {
  signIn: { method: 'POST', path: '/console/session' },
  getSession: { method: 'GET', path: '/console/session' },
  signOut: { method: 'DELETE', path: '/console/session' },
  signInAtProvider: { method: 'GET', path: '/console/sign-in' },
  returnFromProvider: { method: 'GET', path: '/console/callback' },
  signOutAtProvider: { method: 'GET', path: '/console/sign-out' },
} as const satisfies Readonly<Record<string, Pick<Operation, 'method' | 'path'>>>;

/** Header of a request that a page sends by itself, with the value `1`: no use of the session. */
export const backgroundHeader = 'x-background';

/** How a person can sign in to the report's console. */
export type SignInMethod = 'secret' | 'provider';

/** Times of a session. */
export interface SessionTimes {
  /** Time without use after which the session ends, in seconds. */
  readonly idle_seconds: number;
  /** When it ends if it is not used before: `2026-05-01T08:30:00Z`. */
  readonly expires_at: string;
  /** When it ends, however often it is used. */
  readonly ends_at: string;
}

/** The state of a browser that has no session. */
export interface SignedOut {
  readonly sign_in: readonly SignInMethod[];
}

/** A session of the report's console. */
export interface ConsoleSession extends SessionTimes {
  readonly client_id: string;
  /** Display name of the client; `null` if it has none. */
  readonly name: string | null;
  readonly tenant: string;
  /** The oldest instant with a report, after a kept first import; absent without a history. */
  readonly history_begins_at?: string;
}

/** A session of the operator's console. */
export interface OperatorSession extends SessionTimes {
  readonly operator: { readonly id: string; readonly name: string; readonly scopes: readonly string[] };
  /** URL of the service for its clients: `PUBLIC_URL`. */
  readonly public_url: string;
}

/**
 * Bodies of sign-ins to the consoles. No value is repeated in an error: people enter secrets in the
 * wrong field.
 */
const text = (maxLength: number, rule: string, example: string) =>
  Type.String({ minLength: 1, maxLength, 'x-rule': rule, 'x-secret': true, examples: [example] });

/** The body of a sign-in to the report's console. */
export const ClientCredentials = Type.Object({
  client_id: text(255, 'the id of a client', 'acme-reporting'),
  client_secret: text(512, 'the secret of the client, 1 to 512 characters', 'kV2-Zq8.tYw4_Nf7~bR1xJ'),
});
export type ClientCredentials = Static<typeof ClientCredentials>;

/** The body of a sign-in to the operator's console. */
export const OperatorCredentials = Type.Object({
  token: text(512, "an operator's token", 'sro_ followed by 43 characters'),
});
export type OperatorCredentials = Static<typeof OperatorCredentials>;
