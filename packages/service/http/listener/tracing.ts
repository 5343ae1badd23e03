import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { formatTraceparent, spanRecorder, traceOf } from '../../tracing/span.ts';

/** The response header with the trace of a request (W3C Trace Context, response header). */
const traceHeaderName = 'traceresponse';

/** The members of a log line that name the trace of a request, if it has one. */
export function describeTrace(request: IncomingMessage): Readonly<Record<string, string>> | undefined {
  const trace = traceOf(request);
  return trace && { trace_id: trace.traceId, span_id: trace.spanId };
}

export function traceHeader(request: IncomingMessage): Readonly<Record<string, string>> | undefined {
  const trace = traceOf(request);
  return trace && { [traceHeaderName]: formatTraceparent(trace) };
}

/** Continues the span of a request in its handler, and records a span for sending the response. */
export function addTracing(app: FastifyInstance): void {
  const recorder = spanRecorder();
  if (recorder === undefined) return;
  app.addHook('onRequest', async (request) => {
    const { url } = request.routeOptions;
    if (url !== undefined) recorder.setRoute(request.raw, url);
  });
  // events of the connection, with the body, are outside of the request's span
  app.addHook('preValidation', (request, _reply, done) => recorder.resume(request.raw, done));
  app.addHook('onSend', async (request) => recorder.startSending(request.raw));
}

/** Records a span for each request of a server, also for those that no route handles. */
export function traceRequests(server: Server, scheme: 'http' | 'https'): void {
  const recorder = spanRecorder();
  const [handle] = server.listeners('request') as RequestListener[];
  if (recorder === undefined || handle === undefined) return;
  server.removeAllListeners('request');
  server.on('request', (request, response) =>
    recorder.serve({ request, response, scheme }, () => handle(request, response)),
  );
}
