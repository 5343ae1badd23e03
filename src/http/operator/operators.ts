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
  add('createOperator', async ({ context, body: { name, scopes, expires_days } }) => {
    const created = await createOperator(context, {
      name,
      scopes,
      ...(expires_days !== undefined && { expiresDays: expires_days }),
    });
    return { ...describeOperator(created), token: created.token };
  });
  add('revokeOperator', async ({ context, params: { operator_id: id = '' } }) =>
    describeOperator(await revokeOperator(context, id)),
  );
}
