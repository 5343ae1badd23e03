import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  createTraceState,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  type SpanStatus,
  SpanStatusCode,
  type TextMapPropagator,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

// Registers with the API of OpenTelemetry what an SDK registers, in this process or, by
// `NODE_OPTIONS=--import` and SPANS_FILE, in the processes of a program. A trace that its client
// does not sample is not recorded, as with the sampler `parentbased_always_on`.

/** A span that has ended. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
}

/** The spans of this process that have ended. */
export const endedSpans: EndedSpan[] = [];

function note(span: EndedSpan): void {
  endedSpans.push(span);
  if (process.env.SPANS_FILE !== undefined) appendFileSync(process.env.SPANS_FILE, `${JSON.stringify(span)}\n`);
}

class RecordedSpan implements Span {
  #name: string;
  #ended = false;
  #status: SpanStatus = { code: SpanStatusCode.UNSET };
  readonly #attributes: Attributes;
  readonly #kind: SpanKind;
  readonly #context: SpanContext;
  readonly #parentSpanId: string | undefined;

  constructor(
    name: string,
    { kind = SpanKind.INTERNAL, attributes = {} }: SpanOptions,
    at: SpanContext,
    parent?: string,
  ) {
    this.#name = name;
    this.#kind = kind;
    this.#attributes = { ...attributes };
    this.#context = at;
    this.#parentSpanId = parent;
  }

  spanContext(): SpanContext {
    return this.#context;
  }
  setAttribute(key: string, value: Attributes[string]): this {
    this.#attributes[key] = value;
    return this;
  }
  setAttributes(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes);
    return this;
  }
  setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }
  updateName(name: string): this {
    this.#name = name;
    return this;
  }
  addEvent = (): this => this;
  addLink = (): this => this;
  addLinks = (): this => this;
  recordException(): void {}
  isRecording(): boolean {
    return !this.#ended;
  }
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { traceId, spanId, traceState } = this.#context;
    note({
      ...{ name: this.#name, kind: this.#kind, traceId, spanId, parentSpanId: this.#parentSpanId },
      ...{ traceState: traceState?.serialize(), status: this.#status, attributes: this.#attributes },
    });
  }
}

const tracer: Tracer = {
  startSpan(name, options = {}, at = context.active()) {
    const parent = trace.getSpanContext(at);
    const { traceId = randomBytes(16).toString('hex'), traceFlags = TraceFlags.SAMPLED, traceState } = parent ?? {};
    const own = { traceId, spanId: randomBytes(8).toString('hex'), traceFlags, ...(traceState && { traceState }) };
    if ((traceFlags & TraceFlags.SAMPLED) === 0) return trace.wrapSpanContext(own);
    return new RecordedSpan(name, options, own, parent?.spanId);
  },
  startActiveSpan: () => {
    throw new Error('the service starts no active span');
  },
};

const storage = new AsyncLocalStorage<Context>();
const manager: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (at, work, self, ...values) => storage.run(at, () => work.apply(self as never, values)),
  bind: (_at, target) => target,
  enable: () => manager,
  disable: () => manager,
};

/** Reads what a client sends (W3C Trace Context), if it is well-formed. */
const propagator: TextMapPropagator<Record<string, string>> = {
  extract(at, { traceparent = '', tracestate }) {
    const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? [];
    if (traceId === undefined || spanId === undefined) return at;
    const traceState = tracestate === undefined ? undefined : createTraceState(tracestate);
    const sent = { traceId, spanId, traceFlags: Number.parseInt(flags ?? '', 16), isRemote: true };
    return trace.setSpanContext(at, { ...sent, ...(traceState && { traceState }) });
  },
  inject: () => undefined,
  fields: () => ['traceparent', 'tracestate'],
};

/** Records spans in this process from now on; returns the function that stops this. */
export function registerSpans(): () => void {
  context.setGlobalContextManager(manager);
  propagation.setGlobalPropagator(propagator);
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return () => {
    trace.disable();
    propagation.disable();
    context.disable();
  };
}

if (process.env.SPANS_FILE !== undefined) registerSpans();
