import { AggregatorRegistry, Registry } from 'prom-client';
import type { MetricValues } from './metric-values.ts';
import { addProcessMetrics, type HostState } from './process-metrics.ts';
import { addRequestMetrics, type MeasuredWaits, type RequestMetrics } from './request-metrics.ts';
import { addStoreMetrics, type MeasuredStore } from './store-metrics.ts';

/** The metrics of one process, or the sums of several. */
export interface ReadableMetrics {
  /** Writes all metrics in the text format of Prometheus. */
  readonly render: () => Promise<string>;
  readonly values: () => Promise<MetricValues>;
}

export interface ServiceMetrics extends RequestMetrics, ReadableMetrics {
  /** The values of counters and histograms only; reads no store. */
  readonly counts: () => Promise<MetricValues>;
  readonly close: () => void;
}

export function createServiceMetrics(state: MeasuredStore & MeasuredWaits & HostState): ServiceMetrics {
  const registry = new Registry();
  const requests = addRequestMetrics(registry, state);
  addStoreMetrics(registry, state);
  const close = addProcessMetrics(registry, state);
  return {
    ...requests,
    render: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
    counts: async () => {
      const counting = registry.getMetricsAsArray().filter(({ type }) => isCount(type));
      const read = await Promise.all(counting.map(({ name }) => registry.getSingleMetric(name)?.get()));
      return read.filter((metric) => metric !== undefined);
    },
    close,
  };
}

/** Makes the function that reads the metrics of a process that supervises workers. */
export function createHostMetrics(state: HostState): () => Promise<MetricValues> {
  const registry = new Registry();
  addProcessMetrics(registry, state);
  return () => registry.getMetricsAsJSON();
}

/** The metrics whose sums must not go down: counters and histograms. */
export const countsOf = (metrics: MetricValues): MetricValues => metrics.filter(({ type }) => isCount(type));

const isCount = (type: unknown): boolean => type === 'counter' || type === 'histogram';

/** Adds up the metrics of several processes, each as its `aggregator` says. */
export function aggregateMetrics(processes: readonly MetricValues[]): ReadableMetrics {
  const registry = AggregatorRegistry.aggregate([...processes]);
  return { render: () => registry.metrics(), values: () => registry.getMetricsAsJSON() };
}
