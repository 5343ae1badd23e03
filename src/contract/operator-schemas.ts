import { CreatedOperator, Operator } from './operator-token.ts';

/** The named schemas of the operator's API. */
export const operatorSchemas = { Operator, CreatedOperator } as const;
