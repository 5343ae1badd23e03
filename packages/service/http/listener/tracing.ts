import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import {
  type Context,
  context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { hasSdk, tracer } from '../../tracing/span.ts';
import { formatTraceparent, parseTraceparent, type TraceContext } from './trace-context.ts';

/** The response header with the trace of a request (W3C Trace Context, response header). */
const traceHeaderName = 'traceresponse';

/** The context with the span of each request; empty without an SDK. */
const served = new WeakMap<IncomingMessage, Context>();
/** The span of each response that is sent. */
const sending = new WeakMap<IncomingMessage, Span>();

/** The trace of a request: that of its span or, without an SDK, what its client sent. */
const traceOf = (request: IncomingMessage): TraceContext | undefined =>
  trace.getSpanContext(served.get(request) ?? parentOf(request));

/** The members of a log line that name the trace of a request, if it has one. */
export function describeTrace(request: IncomingMessage): Readonly<Record<string, string>> | undefined {
  const found = traceOf(request);
  return found && { trace_id: found.traceId, span_id: found.spanId };
}

export function traceHeader(request: IncomingMessage): Readonly<Record<string, string>> | undefined {
  const found = traceOf(request);
  return found && { [traceHeaderName]: formatTraceparent(found) };
}

/** Continues the span of a request in its handler, and records a span for sending the response. */
export function addTracing(app: FastifyInstance): void {
  if (!hasSdk()) return;
  app.addHook('onRequest', async ({ raw, routeOptions: { url } }) => {
    if (url !== undefined)
      spanOf(raw)
        ?.updateName(`${nameOf(methodOf(raw))} ${url}`)
        .setAttribute('http.route', url);
  });
  // events of the connection, with the body, are outside of the request's span
  app.addHook('preValidation', ({ raw }, _reply, done) => context.with(served.get(raw) ?? context.active(), done));
  app.addHook('onSend', async ({ raw }) => {
    if (spanOf(raw)?.isRecording() === true) sending.set(raw, tracer.startSpan('send', {}, served.get(raw)));
  });
}

const spanOf = (request: IncomingMessage): Span | undefined => {
  const active = served.get(request);
  return active && trace.getSpan(active);
};

/** Handles each request of a server in a span, also without a route, until its response ends. */
export function traceRequests(server: Server, scheme: 'http' | 'https'): void {
  const [handle] = server.listeners('request') as RequestListener[];
  if (!hasSdk() || handle === undefined) return;
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const method = methodOf(request);
    const attributes = {
      'http.request.method': method,
      'url.scheme': scheme,
      'network.protocol.version': request.httpVersion,
    };
    const span = tracer.startSpan(nameOf(method), { kind: SpanKind.SERVER, attributes }, parentOf(request));
    const active = trace.setSpan(ROOT_CONTEXT, span);
    served.set(request, active);
    response.once('close', () => {
      sending.get(request)?.end();
      endServerSpan(span, response);
    });
    context.with(active, () => handle(request, response));
  });
}

/** Follows the semantic conventions of OpenTelemetry for HTTP servers, 1.45. */
function endServerSpan(span: Span, response: ServerResponse): void {
  const { statusCode, writableFinished } = response;
  if (response.headersSent) span.setAttribute('http.response.status_code', statusCode);
  const failure = statusCode >= 500 ? String(statusCode) : writableFinished ? undefined : 'aborted';
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', failure);
  span.end();
}

/** Methods of RFC 9110 and 5789; others are counted as one, so that their number is bounded. */
const methods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);
const methodOf = ({ method = '' }: IncomingMessage): string => (methods.has(method) ? method : '_OTHER');
const nameOf = (method: string): string => (method === '_OTHER' ? 'HTTP' : method);

/** The trace that the client continues, or none: a malformed `traceparent` begins a new trace. */
function parentOf({ headers }: IncomingMessage): Context {
  const parent = parseTraceparent(headers.traceparent);
  if (parent === undefined) return ROOT_CONTEXT;
  const state = headers.tracestate === undefined ? undefined : createTraceState(String(headers.tracestate));
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true, ...(state && { traceState: state }) });
}
