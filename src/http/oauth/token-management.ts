import type { FastifyInstance } from 'fastify';
import { introspectToken } from '../../auth/introspect-token.ts';
import type { ResourceServer } from '../../auth/resource-server.ts';
import { revokeToken } from '../../auth/revoke-token.ts';
import { operations } from '../../contract/operations.ts';
import { addOauthRoute, type OauthServing } from './oauth-route.ts';

/** Adds the revocation endpoint (RFC 7009) and the introspection endpoint (RFC 7662). */
export function addTokenManagementRoutes(app: FastifyInstance, serving: OauthServing, server: ResourceServer): void {
  addOauthRoute(app, serving, {
    path: operations.revokeToken.path,
    spanName: 'revoke token',
    checkForm: () => undefined,
    handle: async ({ context: bounded, client, form }) => {
      await revokeToken(bounded, server, client, form.get('token'));
      return undefined;
    },
  });
  addOauthRoute(app, serving, {
    path: operations.introspectToken.path,
    spanName: 'introspect token',
    checkForm: () => undefined,
    handle: ({ context: bounded, client, form }) => introspectToken(bounded, server, client, form.get('token')),
  });
}
