import type { OperatorApiId, OperatorBody, OperatorResponse } from '../contract/operator-operations.ts';

/** What an operation is called with. */
export interface OperatorInput<Id extends OperatorApiId> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: Optional<OperatorBody<Id>>;
}

type Optional<T> = { readonly [Name in keyof T]: T[Name] | undefined };

/** Calls an operation of the operator's API, in the store or on a server. */
export type CallOperation = <Id extends OperatorApiId>(
  id: Id,
  input?: OperatorInput<Id>,
) => Promise<OperatorResponse<Id>>;
