import type { FastifyInstance } from 'fastify';
import { chooseGrant, requestToken } from '../../auth/token-request.ts';
import { operations } from '../../contract/operations.ts';
import { addOauthRoute, type OauthServing } from './oauth-route.ts';

/** Adds the token endpoint (RFC 6749 §3.2). */
export function addTokenRoute(app: FastifyInstance, serving: OauthServing): void {
  addOauthRoute(app, serving, {
    path: operations.issueToken.path,
    spanName: 'issue token',
    checkForm: chooseGrant,
    handle: async ({ context: bounded, client, form, checked: grant, audit }) => {
      const { response, ids } = await requestToken(bounded, client, grant, form);
      audit(ids);
      return response;
    },
  });
}
