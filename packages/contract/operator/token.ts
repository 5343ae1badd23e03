import type { Static } from 'typebox';
import { operatorScopes } from '../oauth/grant.ts';
import { closed, plain, printable, printableAscii } from '../schema.ts';
import { Type } from '../type.ts';
import { listOf, listParameters, nullableTime, type OperatorOperation, time, wordsOf } from './operation.ts';

/** The name of an operator's token. */
export const operatorName = Type.String({
  ...plain(100, 'A name of your choice, for the audit log', 'billing'),
  minLength: 1,
  'x-rule': 'a string of 1 to 100 characters without control characters',
});

const scopes = wordsOf(
  operatorScopes,
  'scopes',
  'operator:read reads everything except records and secrets; operator:write changes everything, also clients, so that its holder can create one that reads or loads the records of any tenant; subscription:write only loads the records of any tenant',
  ['operator:read'],
);

/** The lifetime of an operator's token in days. */
export const operatorDays = Type.Integer({
  minimum: 1,
  maximum: 3_650,
  format: 'int32',
  description: 'Days until it expires. Absent: never, or with the token that creates it',
  'x-rule': 'a whole number from 1 to 3650',
  examples: [90],
});

/** The token of the caller, which no error repeats. */
const currentToken = Type.String({
  minLength: 1,
  maxLength: 512,
  pattern: printableAscii,
  description: "Your own token. The operator's console must send it, as its session could be stolen",
  'x-rule': "an operator's token",
  'x-secret': true,
  examples: ['sro_Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2s'],
});

const members = {
  id: printable(64, 'Its id', 'op-3f1f2f6a7c10'),
  name: operatorName,
  scopes,
  created_at: time('When it was created'),
  expires_at: nullableTime('When it expires; null if it never does'),
  last_used_at: nullableTime('When it was last used, to the minute; null if never'),
  revoked_at: nullableTime('When it was revoked; null unless it was'),
};

/** A token of an operator, without its secret. */
export const Operator = closed('A token of an operator', members);
export type Operator = Static<typeof Operator>;

/** A new token of an operator. */
export const CreatedOperator = closed('A new token of an operator', {
  ...members,
  token: printable(
    128,
    'The token. It is shown only once; the service stores its hash',
    'sro_Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2s',
  ),
});
export type CreatedOperator = Static<typeof CreatedOperator>;

/** The body of `createOperator`. */
export const NewOperator = closed('A token to create', {
  name: operatorName,
  scopes,
  expires_days: Type.Optional(operatorDays),
  current_token: Type.Optional(currentToken),
});

const tokenPattern = /^sro_[A-Za-z0-9_-]{43}$/;

/** Whether a token has the length and characters of an operator's token. */
export const isWellFormedOperatorToken = (token: string): boolean => tokenPattern.test(token);

/** The operations on tokens of operators. */
export const operatorTokenOperations = {
  listOperators: {
    method: 'GET',
    path: '/operator/v1/operators',
    tag: 'operators',
    summary: 'List operators',
    description: "Returns the operators' tokens by id, also expired and revoked ones, without their secrets.",
    scope: 'operator:read',
    query: listParameters,
    response: { status: 200, schema: listOf(Operator, 'A page of operators'), example: 'operators' },
  },
  createOperator: {
    method: 'POST',
    path: '/operator/v1/operators',
    tag: 'operators',
    summary: 'Create an operator',
    description:
      'Creates a token for an operator and returns it once. A caller cannot give scopes that its own token does not have, nor a later expiry.',
    scope: 'operator:write',
    body: NewOperator,
    response: { status: 201, schema: CreatedOperator, example: 'createdOperator' },
    sample: { json: { name: 'billing', scopes: ['subscription:write'], expires_days: 90 } },
  },
  revokeOperator: {
    method: 'POST',
    path: '/operator/v1/operators/{operator_id}/revoke',
    tag: 'operators',
    summary: 'Revoke an operator',
    description: "Revokes an operator's token; it is rejected from the next request on.",
    scope: 'operator:write',
    response: { status: 200, schema: Operator, example: 'revokedOperator' },
  },
} as const satisfies Record<string, OperatorOperation>;
