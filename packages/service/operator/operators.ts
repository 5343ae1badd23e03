import { randomBytes } from 'node:crypto';
import { formatInstant, timeOf } from '../../contract/instant.ts';
import type { OperatorScope } from '../../contract/oauth/grant.ts';
import type { CreatedOperator, Operator } from '../../contract/operator/token.ts';
import { AccessError } from '../auth/error.ts';
import { generateOperatorToken, hashOperatorToken, type OperatorGate } from '../auth/verify/authorize-operator.ts';
import type { Directory } from '../storage/store.ts';
import {
  insertOperatorToken,
  listOperatorTokens,
  type OperatorToken,
  revokeOperatorToken,
} from '../storage/tables/operator-token.ts';
import { OperatorError } from './error.ts';
import { type Actor, type OperatorContext, perform } from './perform.ts';

/** A token to create. */
interface NewOperator {
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  /** Days until it expires; absent if it never does. */
  readonly expiresDays?: number;
}

const daySeconds = 86_400;

/**
 * Creates a token for an operator. It is shown once; only its hash is stored. `confirm` rejects who
 * must not create any.
 */
export function createOperator(
  context: OperatorContext,
  { name, scopes, expiresDays }: NewOperator,
  confirm?: () => Promise<void>,
): Promise<CreatedOperator> {
  const id = `op-${randomBytes(6).toString('hex')}`;
  const create = async (directory: Directory): Promise<CreatedOperator> => {
    const { now, actor } = context;
    requireOwnScopes(actor, scopes);
    const token = generateOperatorToken();
    const createdAt = now();
    const latest = actor.kind === 'operator' ? actor.expiresAt : null;
    const expiresAt = expiresDays === undefined ? latest : createdAt + expiresDays * daySeconds;
    requireNotAfter(latest, expiresAt);
    const created = { id, name, scopes, createdAt, expiresAt };
    if (!(await insertOperatorToken(directory, created, hashOperatorToken(token)))) throw nameInUse(name);
    return { ...describeOperator({ ...created, lastUsedAt: null, revokedAt: null }), token };
  };
  return perform(context, { name: 'operator.create', target: { operatorId: id } }, create, confirm);
}

const nameInUse = (name: string): OperatorError =>
  new OperatorError(
    'CONFLICT',
    `Cannot create the operator's token: its name must not be that of a valid one, which may be revoked first: current value is '${name}'`,
  );

/**
 * Checks that an operator who has a session also has its token: a stolen session must not become a
 * token. A wrong one counts as a failed sign-in.
 */
export async function requireOwnToken(
  gate: Pick<OperatorGate, 'authenticate'>,
  actor: Actor,
  token: string | undefined,
): Promise<void> {
  if (token !== undefined && actor.kind === 'operator') {
    const owner = await gate.authenticate(token, actor.address).catch((error: unknown) => {
      if (error instanceof AccessError) return undefined;
      throw error;
    });
    if (owner?.id === actor.id) return;
  }
  throw new OperatorError(
    'FORBIDDEN',
    "Cannot create the operator's token from the console: current_token must be the token with which you signed in",
  );
}

/** Returns up to `limit` tokens by id after the id `after`, also expired and revoked ones. */
export const listOperators = (
  { store }: Pick<OperatorContext, 'store'>,
  after: string,
  limit: number,
): Promise<readonly OperatorToken[]> => listOperatorTokens(store, after, limit);

/** Revokes a token; it is rejected from the next request on. */
export function revokeOperator(context: OperatorContext, id: string): Promise<Operator> {
  return perform(context, { name: 'operator.revoke', target: { operatorId: id } }, async (directory) => {
    const revoked = await revokeOperatorToken(directory, id, context.now());
    if (revoked !== undefined) return describeOperator(revoked);
    throw new OperatorError(
      'NOT_FOUND',
      `Cannot revoke the operator's token: its id must be in the list of operators: current value is '${id}'`,
    );
  });
}

/** A token cannot outlive the one that creates it. */
function requireNotAfter(latest: number | null, expiresAt: number | null): void {
  if (latest === null || (expiresAt !== null && expiresAt <= latest)) return;
  throw new OperatorError(
    'FORBIDDEN',
    `Cannot create the operator's token: it must expire no later than your own token, at ${formatInstant(latest)}: current value is '${timeOf(expiresAt)}'`,
  );
}

/** An operator cannot gain scopes by creating a token. */
function requireOwnScopes(actor: Actor, scopes: readonly OperatorScope[]): void {
  const missing = actor.kind === 'operator' ? scopes.filter((scope) => !actor.scopes.includes(scope)) : [];
  if (missing.length === 0) return;
  throw new OperatorError(
    'FORBIDDEN',
    `Cannot create the operator's token: its scopes must be among those of your own token: current value is '${missing.join(' ')}'`,
  );
}

/** An operator's token as the API and the commands show it. */
export const describeOperator = (token: OperatorToken): Operator => ({
  id: token.id,
  name: token.name,
  scopes: token.scopes as OperatorScope[],
  created_at: formatInstant(token.createdAt),
  expires_at: timeOf(token.expiresAt),
  last_used_at: timeOf(token.lastUsedAt),
  revoked_at: timeOf(token.revokedAt),
});
