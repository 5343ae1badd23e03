import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BaseServerOptions, buildBaseServer } from '../listener/base-server.ts';
import { RequestError } from '../listener/error.ts';
import { addHealthRoutes, type Readiness } from '../listener/health.ts';
import { discardBody } from '../listener/read-body.ts';
import { addLoadRoute, type LoadRoute, loadPath } from './load-subscriptions.ts';

/** What the operator's own listener opens to. */
interface ManagementOptions
  extends Readiness,
    LoadRoute,
    Pick<BaseServerOptions, 'connectionsPerAddressMax' | 'logger' | 'trustedProxies' | 'requestMs'> {}

/** Builds the HTTP server of the operator's own listener; it does not listen yet. */
export function buildManagementServer(options: ManagementOptions): FastifyInstance {
  // a load takes as long as its records come in
  const app = buildBaseServer({ ...options, isHttps: false, answerUnrouted, requestTimeoutMs: 0 });
  app.decorateRequest('access', null);
  // whoever was refused early may never end its body
  app.addHook('onResponse', async ({ raw }) => discardBody(raw, options.bodyStallMs));
  addHealthRoutes(app, options);
  addLoadRoute(app, options);
  return app;
}

/**
 * Answers what no route takes: another method of the operation with 405 and `Allow` (RFC 9110
 * §15.5.6), everything else with 404.
 */
async function answerUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = request.url.split('?', 1)[0] ?? '';
  if (!loadPath.pattern.test(path)) {
    throw new RequestError(
      'NOT_FOUND',
      'Cannot find anything here: the path must be one of those in docs/operator.md; reports are at the public URL',
    );
  }
  const allow = 'OPTIONS, PUT';
  if (request.method === 'OPTIONS') return reply.code(204).header('allow', allow).send();
  throw new RequestError('METHOD_NOT_ALLOWED', `Cannot use this method here: it must be one of ${allow}`, { allow });
}
