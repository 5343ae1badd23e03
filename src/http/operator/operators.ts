import { describeOperator } from '../../operator/describe-operator.ts';
import { createOperator, listOperators, revokeOperator } from '../../operator/operators.ts';
import type { AddRoute } from './operator-routes.ts';
import { readPage } from './page.ts';

/** Adds `listOperators`, `createOperator` and `revokeOperator`. */
export function addOperatorTokenRoutes(add: AddRoute): void {
  add('listOperators', ({ context, query }) =>
    readPage(query, {
      keyParts: 1,
      read: ([after = ''], limit) => listOperators(context, after, limit),
      keyOf: ({ id }) => [id],
      show: describeOperator,
    }),
  );
  add('createOperator', ({ context, body: { name, scopes, expires_days: expiresDays } }) =>
    createOperator(context, { name, scopes, ...(expiresDays !== undefined && { expiresDays }) }),
  );
  add('revokeOperator', ({ context, params: { operator_id: id = '' } }) => revokeOperator(context, id));
}
