import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTraceparent, type TraceContext } from './trace-context.ts';

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
