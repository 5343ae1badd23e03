import type { FastifyInstance } from 'fastify';
import type { AuthContext } from '../auth/auth-context.ts';
import { answerTokenRequest, chooseGrant } from '../auth/token-request.ts';
import { operations } from '../contract/operations.ts';
import { addOauthRoute } from './oauth-route.ts';

/** The token endpoint (RFC 6749 §3.2). */
export function addTokenRoute(app: FastifyInstance, context: AuthContext): void {
  addOauthRoute(app, context, {
    path: operations.issueToken.path,
    checkForm: chooseGrant,
    handle: ({ context: bounded, client, form }) => answerTokenRequest(bounded, client, form),
  });
}
