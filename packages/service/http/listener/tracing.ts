import type { ServerResponse } from 'node:http';
import {
  type Context,
  context,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Records a span of each request, which continues the trace of its client, and adds its ids to the
 * log lines of the request; without an SDK of OpenTelemetry, nothing (docs/operators/traces.md).
 */
export function addTracing(app: FastifyInstance, scheme: 'http' | 'https'): void {
  if (!hasSdk()) return;
  const tracer = trace.getTracer('subreport');
  const contexts = new WeakMap<FastifyRequest, Context>();
  app.addHook('onRequest', (request, { raw: response }, done) => {
    const { raw, routeOptions } = request;
    const method = knownMethods.has(request.method) ? request.method : undefined;
    const attributes = {
      'http.request.method': method ?? '_OTHER',
      'http.route': routeOptions.url,
      'network.protocol.version': raw.httpVersion,
      'url.scheme': scheme,
    };
    const name = [method ?? 'HTTP', routeOptions.url].filter(Boolean).join(' ');
    const parent = propagation.extract(ROOT_CONTEXT, raw.headers);
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const { traceId, spanId } = span.spanContext();
    request.log = request.log.child({ trace_id: traceId, span_id: spanId });
    response.once('close', () => endServerSpan(span, response));
    const active = trace.setSpan(parent, span);
    contexts.set(request, active);
    context.with(active, done);
  });
  // events of the connection, with the body, are outside of the request's context
  app.addHook('preValidation', (request, _reply, done) => context.with(contexts.get(request) ?? ROOT_CONTEXT, done));
}

/** Whether an SDK is registered: until then, the API has a proxy without a tracer. */
function hasSdk(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('subreport') !== undefined;
}

/** Follows the semantic conventions of OpenTelemetry for HTTP servers, 1.45. */
function endServerSpan(span: Span, { statusCode, headersSent, writableFinished }: ServerResponse): void {
  if (headersSent) span.setAttribute('http.response.status_code', statusCode);
  const failure = statusCode >= 500 ? String(statusCode) : writableFinished ? undefined : 'aborted';
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', failure);
  span.end();
}

/** Methods of RFC 9110 and 5789; others are counted as one, so that their number is bounded. */
const knownMethods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);
