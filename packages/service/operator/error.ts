/**
 * Why an action is rejected.
 * - `INVALID`: a value breaks its rule.
 * - `FORBIDDEN`: the actor may not do it.
 * - `NOT_FOUND`: its target does not exist.
 * - `CONFLICT`: the present state of its target does not allow it.
 */
export type OperatorErrorCode = 'INVALID' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT';

/** An action of the operator that is rejected. The message states the violated rule. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly code: OperatorErrorCode;
  /** What a user of the command line may do next. */
  readonly hint: string | undefined;

  constructor(code: OperatorErrorCode, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
