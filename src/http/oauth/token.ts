import type { FastifyInstance } from 'fastify';
import type { AuthContext } from '../../auth/auth-context.ts';
import { describeIssued } from '../../auth/token-audit.ts';
import { chooseGrant, requestToken } from '../../auth/token-request.ts';
import { operations } from '../../contract/operations.ts';
import { addOauthRoute } from './oauth-route.ts';

/** Adds the token endpoint (RFC 6749 §3.2). */
export function addTokenRoute(app: FastifyInstance, context: AuthContext): void {
  addOauthRoute(app, context, {
    path: operations.issueToken.path,
    checkForm: chooseGrant,
    handle: async ({ context: bounded, client, form, checked: grant, audit }) => {
      const tokens = await requestToken(bounded, client, grant, form);
      audit(describeIssued(tokens));
      return tokens;
    },
  });
}
