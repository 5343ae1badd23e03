import type { Socket } from 'node:net';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { operations } from '../../contract/operations.ts';
import { addAccessLog } from './access-log.ts';
import { createClientErrorHandler } from './client-error.ts';
import { correlationHeader, correlationIdOf } from './correlation.ts';
import { defaultHeaders, type TransportPolicy } from './default-headers.ts';
import { guardRequest, urlLengthMax } from './guard-request.ts';
import { limitConnections } from './limit-connections.ts';
import { addRequestDeadline } from './request-deadline.ts';
import { sendError } from './send-error.ts';

/** What both listeners need. */
export interface BaseServerOptions extends TransportPolicy {
  readonly logger: FastifyBaseLogger;
  /** Addresses or networks of proxies whose `X-Forwarded-For` says where a request came from. */
  readonly trustedProxies: readonly string[];
  /** Most connections that an address may have open, unless it is one of the trusted proxies. */
  readonly connectionsPerAddressMax: number;
  /** Whether the process is on its way out. */
  readonly isDraining: () => boolean;
  /** Answers what no route takes. */
  readonly answerUnrouted: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  /** Time for a request to arrive whole, its body too, in milliseconds; 0 is no limit. */
  readonly requestTimeoutMs: number;
  /** Time for a response to begin, in milliseconds, unless its route lifts the deadline. */
  readonly requestMs: number;
}

/**
 * Longest time for which a connection stays open without a request, in milliseconds. A proxy must
 * be the first to close, or it sends requests into connections that are being closed: common
 * balancers close after 60 s.
 */
const idleMs = { clients: 15_000, proxies: 72_000 };

/**
 * Builds an HTTP server without routes: its limits, its error answers, the correlation id and the
 * access log.
 */
export function buildBaseServer({
  logger,
  trustedProxies,
  connectionsPerAddressMax,
  isDraining,
  answerUnrouted,
  requestTimeoutMs,
  isHttps,
  requestMs,
}: BaseServerOptions): FastifyInstance {
  const headers = defaultHeaders({ isHttps });
  const answerClientError = createClientErrorHandler(logger, headers);
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'correlation_id' }),
    genReqId: correlationIdOf,
    // what is under way or arrives on an open connection is still answered
    return503OnClosing: false,
    bodyLimit: 65_536,
    ...(trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...headers, [correlationHeader]: request.id });
      sendError(error, request, reply);
    },
    clientErrorHandler: answerClientError,
    rewriteUrl: ({ url = '' }) => withoutSlash(url),
    // operations read the query string themselves
    routerOptions: { maxParamLength: urlLengthMax, querystringParser: () => ({}) },
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: trustedProxies.length > 0 ? idleMs.proxies : idleMs.clients,
    http: {
      headersTimeout: 5_000,
      // with Node's 30 s, stalled connections were held for over a minute
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16_384,
      requireHostHeader: false, // `guardRequest` says it in our shape
    },
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(answerUnrouted);
  addRequestDeadline(app, requestMs);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...headers, [correlationHeader]: request.id });
    if (isDraining()) reply.header('connection', 'close');
  });
  app.addHook('onRequest', guardRequest);
  // before a body is read
  app.addHook('onRequest', async (request, reply) => (request.is404 ? answerUnrouted(request, reply) : undefined));
  // an expectation may be ignored (RFC 9110 §10.1.1)
  app.server.on('checkExpectation', app.routing);
  app.server.on('connect', (_request, socket: Socket) => answerClientError(new Error('CONNECT'), socket));
  limitConnections(app.server, {
    max: connectionsPerAddressMax,
    exempt: trustedProxies,
    refuse: (socket) => {
      answerClientError(Object.assign(new Error(), { code: 'TOO_MANY_CONNECTIONS' }), socket);
      socket.destroySoon(); // or a request that follows would be handled
    },
  });
  addAccessLog(app);
  return app;
}

const slashedReport = `${operations.listSubscriptions.path}/`;

/**
 * The report's URL with a slash at the end of its path is the report, which some clients write so.
 */
function withoutSlash(url: string): string {
  const { length } = slashedReport;
  const isSlashed = url.startsWith(slashedReport) && (url.length === length || url[length] === '?');
  return isSlashed ? url.slice(0, length - 1) + url.slice(length) : url;
}
