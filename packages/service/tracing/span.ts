import {
  type Attributes,
  context,
  ProxyTracerProvider,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** Records spans if an SDK of OpenTelemetry is registered (docs/operators/traces.md). */
export const tracer = trace.getTracer('subreport');

/** Whether an SDK is registered: until then, the API has a proxy without a tracer. */
export function hasSdk(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('subreport') !== undefined;
}

/** A span to record; its attributes are never values of a query, or data of a tenant. */
export interface SpanDescription extends SpanOptions {
  readonly name: string;
}

/**
 * Starts a span inside the active one, if that is recorded: only requests begin a trace, and
 * nothing is described for a trace that is not recorded.
 */
export function startSpan(describe: () => SpanDescription): Span | undefined {
  if (trace.getActiveSpan()?.isRecording() !== true) return undefined;
  const { name, ...options } = describe();
  return tracer.startSpan(name, options);
}

/** Ends a span whose work failed. The message stays in the log: it may quote values of a query. */
export function endFailed(span: Span, error: unknown): void {
  const { code, name } = error as { code?: unknown; name?: unknown };
  const type = typeof code === 'string' ? code : String(name ?? 'Error');
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type).end();
}

/** Runs work in a span, which ends with its result or, if that is a promise, when it settles. */
export const inSpan = <T>(name: string, work: () => T, attributes?: () => Attributes): T =>
  inDescribedSpan(() => ({ name, ...(attributes && { attributes: attributes() }) }), work);

export function inDescribedSpan<T>(describe: () => SpanDescription, work: () => T): T {
  const span = startSpan(describe);
  if (span === undefined) return work();
  const fail = (error: unknown): void => endFailed(span, error);
  try {
    const result = context.with(trace.setSpan(context.active(), span), work);
    if (result instanceof Promise) result.then(() => span.end(), fail);
    else span.end();
    return result;
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** Stages with their milliseconds, in the order in which they ended. */
export type Timings = readonly (readonly [stage: string, ms: number])[];

export interface StageTimer {
  /** Runs a stage; it ends with its result or, if that is a promise, when it settles. */
  run<T>(stage: string, work: () => T): T;
  readonly timings: Timings;
}

/** Makes a timer; each stage is also a span of the request's trace. */
export function createStages(): StageTimer {
  const timings: [string, number][] = [];
  return {
    run(stage, work) {
      const began = performance.now();
      const end = (): void => {
        timings.push([stage, performance.now() - began]);
      };
      const result = inSpan(stage, work);
      if (result instanceof Promise) result.then(end, end);
      else end();
      return result;
    },
    timings,
  };
}
