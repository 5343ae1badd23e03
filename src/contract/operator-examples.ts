import type { CreatedOperator, Operator } from './operator-token.ts';

const operator: Operator = {
  id: 'op-3f1f2f6a7c10',
  name: 'billing',
  scopes: ['subscription:write'],
  created_at: '2026-05-01T08:00:00Z',
  expires_at: '2026-07-30T08:00:00Z',
  last_used_at: null,
  revoked_at: null,
};

const createdOperator: CreatedOperator = { ...operator, token: 'sro_Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2s' };

/** A page of a list with one item. */
const pageOf = (item: object) => ({ data: [item], next: null });

/** The examples of the operator's API by name. */
export const operatorExamples: Readonly<Record<string, unknown>> = {
  operators: pageOf(operator),
  createdOperator,
  revokedOperator: { ...operator, revoked_at: '2026-05-02T08:00:00Z' },
};
