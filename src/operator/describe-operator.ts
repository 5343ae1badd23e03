import { formatInstant } from '../contract/instant.ts';
import type { OperatorScope } from '../contract/oauth/grant.ts';
import type { Operator } from '../contract/operator/token.ts';
import type { OperatorToken } from '../storage/tables/operator-token.ts';
import { timeOf } from './time-of.ts';

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
