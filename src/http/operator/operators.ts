import type { OperatorGate } from '../../auth/authorize-operator.ts';
import { describeOperator } from '../../operator/describe-operator.ts';
import { createOperator, listOperators, requireOwnToken, revokeOperator } from '../../operator/operators.ts';
import type { AddRoute } from './operator-routes.ts';
import { readPage } from './page.ts';

/**
 * Makes the function that adds `listOperators`, `createOperator` and `revokeOperator`. With `gate`,
 * for sessions of the console, who creates a token must send their own again.
 */
export const operatorTokenRoutes = (gate?: OperatorGate) => (add: AddRoute) => {
  add('listOperators', ({ context, query }) =>
    readPage(query, {
      keyParts: 1,
      read: ([after = ''], limit) => listOperators(context, after, limit),
      keyOf: ({ id }) => [id],
      show: describeOperator,
    }),
  );
  add('createOperator', ({ context, body: { name, scopes, expires_days: expiresDays, current_token: token } }) =>
    createOperator(
      context,
      { name, scopes, ...(expiresDays !== undefined && { expiresDays }) },
      gate && (() => requireOwnToken(gate, context.actor, token)),
    ),
  );
  add('revokeOperator', ({ context, params: { operator_id: id = '' } }) => revokeOperator(context, id));
};
