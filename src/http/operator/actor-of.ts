import type { OperatorAccess } from '../../auth/authorize-operator.ts';
import type { OperatorActor } from '../../operator/actor.ts';

/** The actor of a request by an operator, without the token. */
export const actorOf = ({ id, name, scopes }: OperatorAccess, address: string): OperatorActor => ({
  kind: 'operator',
  id,
  name,
  scopes,
  address,
});
