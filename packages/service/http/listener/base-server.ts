import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { operations } from '../../../contract/operations.ts';
import { addAccessLog, type ResponseObserver } from './access-log.ts';
import { createClientErrorHandler } from './client-error.ts';
import { correlationHeader, correlationIdOf, defaultHeaders, type TransportPolicy } from './default-headers.ts';
import { announcesUnreadBody, guardRequest, urlLengthMax } from './guard-request.ts';
import { limitConnections } from './limit-connections.ts';
import { createRequestDeadlines } from './request-deadline.ts';
import { sendError } from './send-error.ts';
import { installTls, type ListenerTls, tlsOptions } from './tls.ts';
import { addTracing } from './tracing.ts';
import { refuseUnreadBody } from './unread-body.ts';
import { createUnroutedHandler } from './unrouted.ts';

/** What both listeners need. */
interface BaseServerOptions extends TransportPolicy {
  readonly logger: FastifyBaseLogger;
  /** Addresses or networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Maximum open connections per address, unless it is a trusted proxy. */
  readonly connectionsPerAddressMax: number;
  /** Whether the process is shutting down. */
  readonly isDraining: () => boolean;
  /** The message of 404 for an unknown path. */
  readonly notFound: string;
  /**
   * Time limit for receiving a whole request, including its body, in milliseconds; 0 means none.
   */
  readonly requestTimeoutMs: number;
  /** Whether a host name in the header `Host` is one of this listener; any is by default. */
  readonly allowsHost?: (name: string) => boolean;
  /** Time limit until a response begins, in milliseconds, unless its route lifts the deadline. */
  readonly requestMs: number;
  readonly observe?: ResponseObserver | undefined;
  /** The certificate of the listener; plain HTTP without one. */
  readonly tls?: ListenerTls | undefined;
}

/** Those that both listeners are given. */
export type ListenerOptions = Pick<
  BaseServerOptions,
  'connectionsPerAddressMax' | 'logger' | 'trustedProxies' | 'requestMs' | 'observe' | 'tls'
>;

/**
 * Idle time before a connection is closed, in milliseconds. A proxy must close first, or it sends
 * requests on connections that are being closed; common load balancers close after 60 s.
 */
const idleMs = { clients: 15_000, proxies: 72_000 };

const httpLimits = {
  headersTimeout: 5_000,
  // with Node's default of 30 s, stalled connections stayed open for over a minute
  connectionsCheckingInterval: 1_000,
  // closes an idle connection later than announced, so that a late client's next request does not
  // fail
  keepAliveTimeoutBuffer: 5_000,
  maxHeaderSize: 16_384,
  requireHostHeader: false, // `guardRequest` says it in our shape
};

/**
 * Time limit for receiving a whole request in milliseconds, unless it loads records; enforced once
 * a second on the public listener, before the request's deadline.
 */
export const bodyMsMax = 6_000;

/** Builds an HTTP server without routes: limits, error responses, correlation id and access log. */
export function buildBaseServer(options: BaseServerOptions): FastifyInstance {
  const { logger, trustedProxies, isDraining, notFound, allowsHost, tls } = options;
  const headers = defaultHeaders(options);
  const handleClientError = createClientErrorHandler(logger, headers);
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'correlation_id' }),
    genReqId: correlationIdOf,
    // requests in progress, or on open connections, still get their response
    return503OnClosing: false,
    bodyLimit: 65_536,
    ...(trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...headers, [correlationHeader]: request.id });
      sendError(error, request, reply);
    },
    clientErrorHandler: handleClientError,
    rewriteUrl: ({ url = '' }) => withoutSlash(url),
    // the operations parse the query string themselves
    routerOptions: { maxParamLength: urlLengthMax, querystringParser: () => ({}) },
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: trustedProxies.length > 0 ? idleMs.proxies : idleMs.clients,
    ...(tls === undefined ? { http: httpLimits } : { https: { ...httpLimits, ...tlsOptions(tls) } }),
  });
  if (tls !== undefined && app.server instanceof TlsServer) installTls(app.server, tls, logger);
  const handleUnrouted = createUnroutedHandler(app, notFound);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(handleUnrouted);
  addTracing(app, options.isHttps ? 'https' : 'http');
  const startDeadline = createRequestDeadlines(app, options.requestMs);
  // a single hook without a promise: every request pays for each further hook or promise
  app.addHook('onRequest', (request, reply, done) => {
    startDeadline(request, reply);
    reply.headers(headers).header(correlationHeader, request.id);
    if (isDraining()) reply.header('connection', 'close');
    guardRequest(request, allowsHost);
    // before the body is read
    if (request.is404) handleUnrouted(request, reply).catch(done);
    else if (announcesUnreadBody(request)) refuseUnreadBody(request, done);
    else done();
  });
  // an expectation may be ignored (RFC 9110 §10.1.1)
  app.server.on('checkExpectation', app.routing);
  app.server.on('connect', (_request, socket: Socket) => handleClientError(new Error('CONNECT'), socket));
  // reset before it was accepted: nobody can read a response, and limits and the audit log need the
  // address, which Node.js remembers once it was read
  app.server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    if (socket.remoteAddress === undefined) socket.destroy();
  });
  limitConnections(app.server, {
    max: options.connectionsPerAddressMax,
    exempt: trustedProxies,
    refuse: (socket) => {
      // before the TLS handshake, no response can be read
      if (tls !== undefined) return refuseSilently(socket, logger);
      handleClientError(Object.assign(new Error(), { code: 'TOO_MANY_CONNECTIONS' }), socket);
      socket.destroySoon(); // or a request that follows would be handled
    },
  });
  addAccessLog(app, options.observe);
  return app;
}

function refuseSilently(socket: Socket, logger: FastifyBaseLogger): void {
  logger.info({ reason: 'TOO_MANY_CONNECTIONS', address: socket.remoteAddress ?? null }, 'connection refused');
  socket.destroy();
}

const slashedReport = `${operations.listSubscriptions.path}/`;

/** Removes a slash after the report's path, which some clients send. */
function withoutSlash(url: string): string {
  const { length } = slashedReport;
  const isSlashed = url.startsWith(slashedReport) && (url.length === length || url[length] === '?');
  return isSlashed ? url.slice(0, length - 1) + url.slice(length) : url;
}
