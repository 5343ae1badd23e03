import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SamplerName } from './sampler-name.ts';
import { formatTraceparent, parseTraceparent, recordSpans, type SpanRecorder, type TraceContext } from './span.ts';

/** Where spans are sent, and which. */
interface TracingOptions {
  /** Base URL of an OTLP/HTTP receiver, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Attributes of the resource: name and version of the service, and what distinguishes its
   * processes.
   */
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly sampler: SamplerName;
  /** Share of the traces that a ratio sampler records, 0 to 1. */
  readonly ratio: number;
  /** Called with each problem, such as a receiver that does not respond. */
  readonly onFault: (message: string) => void;
}

/** Longest wait for the last spans at the end, in milliseconds. */
const stopMsMax = 2_000;

/** Starts recording spans in this process; returns the function that sends the last and stops. */
export function startTracing(options: TracingOptions): () => Promise<void> {
  const { endpoint, headers, attributes, sampler, ratio, onFault } = options;
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new TracerProvider({
    resource: resourceFromAttributes(attributes as Attributes),
    sampler: samplers[sampler](ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url, headers: { ...headers } }) })],
  });
  const quiet = (): void => undefined;
  diag.setLogger({ error: onFault, warn: onFault, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  recordSpans(createRecorder(trace.getTracer('subreport')));
  return async () => {
    const ended = provider.shutdown().catch((error: unknown) => onFault(String(error)));
    await Promise.race([ended, sleep(stopMsMax, undefined, { ref: false })]);
    recordSpans(undefined);
    for (const api of [trace, context, diag]) api.disable();
  };
}

const on = new AlwaysOnSampler();
const off = new AlwaysOffSampler();

const samplers: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
  always_on: () => on,
  always_off: () => off,
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: on }),
  parentbased_always_off: () => new ParentBasedSampler({ root: off }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
};

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;

/** Makes the recorder that passes spans to OpenTelemetry. */
function createRecorder(tracer: Tracer): SpanRecorder {
  const served = new WeakMap<IncomingMessage, Context>();
  const sending = new WeakMap<IncomingMessage, Span>();
  const spanOf = (request: IncomingMessage): Span | undefined => {
    const active = served.get(request);
    return active && trace.getSpan(active);
  };
  const start: SpanRecorder['start'] = (describe) => {
    const span = startChild(tracer, describe);
    return (error) => span !== undefined && endSpan(span, error);
  };
  return {
    serve({ request, response, scheme }, handle) {
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
      context.with(active, handle);
    },
    resume: (request, work) => context.with(served.get(request) ?? context.active(), work),
    setRoute(request, route) {
      spanOf(request)
        ?.updateName(`${nameOf(methodOf(request))} ${route}`)
        .setAttribute('http.route', route);
    },
    startSending(request) {
      const active = served.get(request);
      if (spanOf(request)?.isRecording() === true) sending.set(request, tracer.startSpan('send', {}, active));
    },
    contextOf(request) {
      const span = spanOf(request);
      return span && contextOfSpan(span);
    },
    inSpan(describe, work) {
      const span = startChild(tracer, describe);
      if (span === undefined) return work();
      return endAfter(span, () => context.with(trace.setSpan(context.active(), span), work));
    },
    start,
    outgoingHeaders() {
      const span = trace.getActiveSpan();
      if (span === undefined) return {};
      const state = span.spanContext().traceState?.serialize() ?? '';
      return { traceparent: formatTraceparent(contextOfSpan(span)), ...(state !== '' && { tracestate: state }) };
    },
  };
}

/** Starts a span if the active one is recorded: nothing is described for a trace that is not. */
function startChild(tracer: Tracer, describe: Parameters<SpanRecorder['start']>[0]): Span | undefined {
  if (trace.getActiveSpan()?.isRecording() !== true) return undefined;
  const { name, kind, attributes = {} } = describe();
  return tracer.startSpan(name, { kind: kinds[kind], attributes: attributes as Attributes });
}

function endAfter<T>(span: Span, work: () => T): T {
  try {
    const result = work();
    if (!(result instanceof Promise)) span.end();
    else
      result.then(
        () => span.end(),
        (error: unknown) => endSpan(span, error),
      );
    return result;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** The message of an error stays in the log: it may quote values of a query. */
function endSpan(span: Span, error: unknown): void {
  if (!span.isRecording()) return; // it has ended
  if (error !== undefined) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    const type = typeof code === 'string' ? code : String(name ?? 'Error');
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type);
  }
  span.end();
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
  const { traceId, spanId, flags } = parent;
  const state = headers.tracestate === undefined ? undefined : createTraceState(String(headers.tracestate));
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(state !== undefined && { traceState: state }),
  });
}

function contextOfSpan(span: Span): TraceContext {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, flags: traceFlags };
}
