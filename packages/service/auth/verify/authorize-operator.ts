import { hash, randomBytes } from 'node:crypto';
import type { OperatorScope } from '../../../contract/oauth/grant.ts';
import type { Store } from '../../storage/store.ts';
import { findOperatorToken, type OperatorToken, recordOperatorTokenUse } from '../../storage/tables/operator-token.ts';
import { AccessError, ThrottledError } from '../error.ts';
import type { FailureBudget } from '../failure-budget.ts';
import { findBearer, insufficientScope, requireTokenSyntax } from './verify-token.ts';

export interface OperatorAccess {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** When the token expires, in UTC epoch seconds; `null` if never. */
  readonly expiresAt: number | null;
  /** When the token was last used before this request, in UTC epoch seconds; `null` if never. */
  readonly lastUsedAt: number | null;
}

/** Checks the tokens of operators. */
export interface OperatorGate {
  /**
   * Checks the `Authorization` header of a request from `address`: it must hold an operator's token
   * that is neither expired nor revoked and has the scope. Throws `AccessError`, or
   * `ThrottledError` after too many failed attempts; a valid token is always accepted, so that
   * nobody can lock an operator out.
   */
  readonly authorize: (header: string | undefined, scope: OperatorScope, address: string) => Promise<OperatorAccess>;
  /** Checks the token of a sign-in in the same way, for no scope yet. */
  readonly authenticate: (token: string, address: string) => Promise<OperatorAccess>;
}

interface OperatorGateOptions {
  readonly store: Store;
  readonly failures: FailureBudget;
  /** UTC epoch seconds. */
  readonly now: () => number;
  /** Receives why the use of a token could not be recorded: the request goes on. */
  readonly onUnrecorded: (error: unknown) => void;
}

export function createOperatorGate({ store, failures, now, onUnrecorded }: OperatorGateOptions): OperatorGate {
  const authenticate: OperatorGate['authenticate'] = async (token, address) => {
    const found = await findValid(store, token, now());
    if (found === undefined) {
      await countFailure(failures, address);
      throw invalidToken();
    }
    // a full disk must not end reads
    await recordOperatorTokenUse(store, found, now()).catch(onUnrecorded);
    const { id, name, scopes, expiresAt, lastUsedAt } = found;
    return { id, name, scopes, expiresAt, lastUsedAt };
  };
  return {
    async authorize(header, scope, address) {
      const operator = await authenticate(requireTokenSyntax(findBearer(header)), address);
      requireOperatorScope(operator, scope);
      return operator;
    },
    authenticate,
  };
}

/** Throws `AccessError` if an operator does not have a scope. */
export function requireOperatorScope({ id, scopes }: OperatorAccess, scope: OperatorScope): void {
  if (!scopes.includes(scope)) throw insufficientScope(scope, undefined, id);
}

async function findValid(store: Store, token: string, nowSeconds: number): Promise<OperatorToken | undefined> {
  const found = await findOperatorToken(store, hashOperatorToken(token));
  if (found === undefined || found.revokedAt !== null) return undefined;
  return found.expiresAt !== null && found.expiresAt <= nowSeconds ? undefined : found;
}

/** Counts a failed attempt; throws `ThrottledError` if there were too many in this minute. */
async function countFailure(failures: FailureBudget, address: string): Promise<void> {
  const attempt = { clientId: 'operator token', address };
  const wait = await failures.secondsToWait(attempt);
  if (wait > 0) throw new ThrottledError('Cannot accept the access token: too many attempts failed', wait);
  await failures.count(attempt);
}

const invalidToken = () =>
  new AccessError(
    'INVALID_TOKEN',
    "Cannot accept the access token: it must be an operator's token that is neither expired nor revoked",
  );

/** Start of every operator's token: secret scanners recognize it, and no JWT begins with it. */
const prefix = 'sro_';

/** Whether an `Authorization` header holds an operator's token, valid or not. */
export const isOperatorHeader = (header: string | undefined): header is string => /^bearer +sro_/i.test(header ?? '');

/** Generates an operator's token: 256 random bits in base64url after the prefix. */
export const generateOperatorToken = (): string => prefix + randomBytes(32).toString('base64url');

/**
 * Hashes an operator's token for the store. SHA-256 is enough: 256 random bits cannot be guessed,
 * and the time of a lookup by the hash says nothing about the token.
 */
export const hashOperatorToken = (token: string): string => hash('sha256', token, 'base64url');
