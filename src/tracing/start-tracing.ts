import { setTimeout as sleep } from 'node:timers/promises';
import { type Attributes, context, DiagLogLevel, diag, trace } from '@opentelemetry/api';
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
import { createRecorder } from './otel-recorder.ts';
import type { SamplerName } from './sampler-name.ts';
import { recordSpans } from './span.ts';

/** Where spans are sent, and which. */
interface TracingOptions {
  /** Base URL of an OTLP/HTTP receiver, without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the resource: the name and version of the service, and what tells processes apart. */
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
export function startTracing({
  endpoint,
  headers,
  attributes,
  sampler,
  ratio,
  onFault,
}: TracingOptions): () => Promise<void> {
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
