import type { FastifyRequest } from 'fastify';
import type { OperatorAccess } from '../../auth/authorize-operator.ts';
import type { OperatorActor } from '../../operator/actor.ts';

/** The actor of a request by an operator, without the token. */
export const actorOf = ({ id, name, scopes, expiresAt }: OperatorAccess, address: string): OperatorActor => ({
  kind: 'operator',
  id,
  name,
  scopes,
  expiresAt,
  address,
});

/** Logs that the audit log lacks the end of an action, which was done. */
export const logUnrecordedEnd = (request: FastifyRequest) => (error: unknown) =>
  request.log.error({ err: error }, 'the action was done, but the audit log could not record its end');
