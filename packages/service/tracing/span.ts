import type { IncomingMessage, ServerResponse } from 'node:http';

/** Attributes of a span; never values of a query, or data of a tenant. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** A span to record. */
export interface SpanDescription {
  readonly name: string;
  /** `client` for a call of another system, such as a database. */
  readonly kind: 'internal' | 'client';
  readonly attributes?: SpanAttributes;
}

/** A request that this service received. */
interface ServedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly scheme: 'http' | 'https';
}

/** Records spans. Only requests begin a trace: work outside of one is not recorded. */
export interface SpanRecorder {
  /** Records the span of a request until its response has ended, and handles it in this span. */
  serve(served: ServedRequest, handle: () => void): void;
  /** Continues in the span of a request after an event of its connection. */
  resume(request: IncomingMessage, work: () => void): void;
  setRoute(request: IncomingMessage, route: string): void;
  /** Starts a span that ends with the response. */
  startSending(request: IncomingMessage): void;
  contextOf(request: IncomingMessage): TraceContext | undefined;
  inSpan<T>(describe: () => SpanDescription, work: () => T): T;
  /** Starts a span inside the active one; returns the function that ends it. */
  start(describe: () => SpanDescription): EndSpan;
  /** The headers that continue the trace in another service. */
  outgoingHeaders(): Readonly<Record<string, string>>;
}

/** Ends a span, with the error if its work failed. */
export type EndSpan = (error?: unknown) => void;

let recorder: SpanRecorder | undefined;

/** Records spans in this process from now on, or no more. */
export function recordSpans(next: SpanRecorder | undefined): void {
  recorder = next;
}

/** The recorder of this process; `undefined` if tracing is off. */
export const spanRecorder = (): SpanRecorder | undefined => recorder;

/** Runs work in a span, which ends with its result or, if that is a promise, when it settles. */
export function inSpan<T>(name: string, work: () => T, attributes?: () => SpanAttributes): T {
  if (recorder === undefined) return work();
  return recorder.inSpan(() => ({ name, kind: 'internal', ...(attributes && { attributes: attributes() }) }), work);
}

/**
 * The trace of a request: that of its span or, if tracing is off, what its client sent;
 * `undefined` if there is none.
 */
export function traceOf(request: IncomingMessage): TraceContext | undefined {
  return recorder?.contextOf(request) ?? parseTraceparent(request.headers.traceparent);
}

/** The position of a request in a distributed trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** One byte; its lowest bit says that the trace is sampled. */
  readonly flags: number;
}

/** Version, trace id, parent id and flags; versions after 00 may append fields (§3.2.4). */
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Reads a `traceparent` header (§3.2); returns `undefined` if it is absent or malformed. */
export function parseTraceparent(header: string | string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = pattern.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** Writes the value of a `traceparent` or `traceresponse` header. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
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
