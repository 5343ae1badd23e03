import type { OperatorScope } from '../../../contract/oauth/grant.ts';
import { type OperatorApiId, operatorApi } from '../../../contract/operator/operations.ts';
import { session } from '../session/session.ts';
import { strings } from '../strings.ts';

/** What an operator may do: an operation of the API, or to load records. */
export type Permission = OperatorApiId | 'loadSubscriptions';

/** Whether the session's token has a scope. */
export function hasScope(scope: OperatorScope): boolean {
  const state = session.state.value;
  return 'session' in state && state.session.operator.scopes.includes(scope);
}

/** Why the session may not do this; `undefined` if it may. */
export function refusalOf(permission: Permission): string | undefined {
  const scope = permission === 'loadSubscriptions' ? 'subscription:write' : operatorApi[permission].scope;
  return hasScope(scope) ? undefined : strings.missingScope(scope);
}
