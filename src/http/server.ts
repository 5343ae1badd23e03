import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import accepts from '@fastify/accepts';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { AuthContext } from '../auth/auth-context.ts';
import type { ResourceServer } from '../auth/resource-server.ts';
import { addAccessLog } from './access-log.ts';
import { answerClientError } from './client-error.ts';
import { addConsoleRoutes } from './console.ts';
import { correlationHeader, correlationIdOf } from './correlation.ts';
import { addDocsRoutes } from './docs.ts';
import { guardRequest, urlLengthMax } from './guard-request.ts';
import { addHealthRoutes, type Readiness } from './health.ts';
import { addMetadataRoutes } from './metadata.ts';
import { answerUnrouted } from './method-not-allowed.ts';
import { addRateLimitHeaders, rateLimitOptions } from './rate-limit.ts';
import { createRepeatedRequests, type RepeatedRequests } from './repeated-requests.ts';
import type { RequestCounter } from './request-counter.ts';
import { sendError } from './send-error.ts';
import { addSubscriptionRoutes, type SubscriptionRoutes } from './subscription.ts';
import { addTokenRoute } from './token.ts';
import { addTokenManagementRoutes } from './token-management.ts';

/** Everything that the door opens to. */
export interface ServerOptions extends Readiness, SubscriptionRoutes {
  readonly auth: AuthContext;
  readonly resourceServer: ResourceServer;
  /** Counts the requests of each client when `rateLimitPerMinute` limits them. */
  readonly requests: RequestCounter;
  readonly openApi: object;
  readonly publicUrl: string;
  /** Addresses or networks of proxies whose `X-Forwarded-For` says where a request came from. */
  readonly trustedProxies: readonly string[];
  readonly logger: FastifyBaseLogger;
}

/** Builds the HTTP server; it does not listen yet. */
export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'correlation_id' }),
    genReqId: correlationIdOf,
    return503OnClosing: false, // what is under way or arrives on an open connection is still answered
    bodyLimit: 65_536,
    ...(options.trustedProxies.length > 0 && { trustProxy: [...options.trustedProxies] }),
    frameworkErrors: (error, request, reply) => {
      reply.header(correlationHeader, request.id);
      sendError(error, request, reply);
    },
    clientErrorHandler: answerClientError,
    routerOptions: { maxParamLength: urlLengthMax, querystringParser: () => ({}) }, // the report reads the query string itself
    requestTimeout: 10_000,
    http: {
      headersTimeout: 5_000,
      connectionsCheckingInterval: 1_000, // with Node's 30 s, stalled connections were held for over a minute
      maxHeaderSize: 16_384,
      requireHostHeader: false, // `guardRequest` says it in our shape
    },
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(answerUnrouted);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ [correlationHeader]: request.id, 'x-content-type-options': 'nosniff' });
    if (options.isDraining()) reply.header('connection', 'close');
  });
  app.addHook('onRequest', guardRequest);
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answerUnrouted(request, reply) : undefined)); // before a body is read
  app.server.on('checkExpectation', app.routing); // an expectation may be ignored (RFC 9110 §10.1.1)
  app.server.on('connect', (_request, socket: Socket) => answerClientError(new Error('CONNECT'), socket));
  addAccessLog(app);
  await app.register(accepts);
  if (options.rateLimitPerMinute > 0) {
    await app.register(rateLimit, { global: false, ...rateLimitOptions(options.rateLimitPerMinute, options.requests) });
    app.addHook('onSend', addRateLimitHeaders);
  }
  const repeated = options.rateLimitPerMinute > 0 ? undefined : repeatedRequests(app, options); // each request is counted
  addSubscriptionRoutes(app, options, repeated);
  addTokenRoute(app, options.auth);
  addTokenManagementRoutes(app, options.auth, options.resourceServer);
  addMetadataRoutes(app, options.auth);
  addHealthRoutes(app, options);
  await addConsoleRoutes(app);
  await addDocsRoutes(app, options.openApi, options.publicUrl);
  return app;
}

/** Lets requests that are sent again byte for byte be answered before the routes see them. */
function repeatedRequests({ server }: FastifyInstance, options: ServerOptions): RepeatedRequests {
  const { logger, isDraining } = options;
  const { store, now } = options.report;
  const repeated = createRepeatedRequests({ changeMark: () => store.changeMark(), logger, now, isDraining });
  const [handle] = server.listeners('request') as RequestListener[];
  if (handle === undefined) throw new TypeError('Cannot build the server: Fastify must listen for its requests');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (!repeated.answer(request, response)) handle(request, response);
  });
  return repeated;
}
