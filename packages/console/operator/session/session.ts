import { type SessionBody, SessionKeeper } from '../../ui/session.ts';

/** The session of an operator. */
export interface OperatorSession extends SessionBody {
  readonly operator: { readonly id: string; readonly name: string; readonly scopes: readonly string[] };
  /** URL of the service for its clients, without a slash at the end. */
  readonly public_url: string;
}

export const session = new SessionKeeper<OperatorSession>((a, b) => a.operator.id === b.operator.id);
