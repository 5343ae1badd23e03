import type { FastifyRequest } from 'fastify';
import { isOperatorHeader } from '../../auth/verify/authorize-operator.ts';
import type { Access } from '../../auth/verify/resource-server.ts';
import type { Actor } from '../../operator/perform.ts';
import { requireTenant } from '../../operator/tenants.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { RequestError } from '../listener/error.ts';
import { type AuthorizeOperator, actorOf, readPath, rejectAction } from './operator-routes.ts';

export interface LoadAuthorization {
  readonly store: Store;
  /** Checks the `Authorization` header of a client for the scope `subscription:write`. */
  readonly authorizeWrite: (header: string | undefined) => Promise<Access>;
}

/** Who may load records, and into which tenant. */
export interface LoadAccess {
  readonly tenant: TenantId;
  readonly actor: Actor;
  /** Id under which the loads of a caller are counted for the limit. */
  readonly callerId: string;
}

/**
 * Authorizes a load into the tenant with this name: an operator's token may load into any tenant, a
 * client's only into its own. Every other tenant gets 404, whether it exists or not.
 */
export async function authorizeLoad(
  { store, authorizeWrite }: LoadAuthorization,
  authorizeOperator: AuthorizeOperator,
  request: FastifyRequest,
  name: string,
): Promise<LoadAccess> {
  const { authorization } = request.headers;
  if (isOperatorHeader(authorization)) return authorizeOperatorLoad(store, authorizeOperator, request, name);
  request.access = await authorizeWrite(authorization);
  const { tenant, clientId } = request.access;
  if (tenant !== name) {
    throw new RequestError(
      'NOT_FOUND',
      'Cannot find the tenant: it must be the one whose client the access token was issued to',
    );
  }
  return { tenant, actor: { kind: 'client', clientId, address: request.ip }, callerId: clientId };
}

export async function authorizeOperatorLoad(
  store: Store,
  authorize: AuthorizeOperator,
  request: FastifyRequest,
  name: string,
): Promise<LoadAccess> {
  const operator = await authorize(request, 'subscription:write');
  request.operator = operator;
  readPath(request.params);
  const tenant = await requireTenant(store, name).catch(rejectAction);
  return { tenant, actor: actorOf(operator, request.ip), callerId: operator.id };
}
