import { AggregatorRegistry, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import { addHistoryMetrics, type MeasuredHistory } from './history-metrics.ts';
import { addProcessMetrics, addServiceFacts, type HostState, type ServiceFacts } from './process-metrics.ts';
import { addRequestMetrics, type MeasuredWaits, type RequestMetrics } from './request-metrics.ts';
import { addStoreMetrics, type MeasuredStore } from './store-metrics.ts';

/** The values of all metrics of a process, as one process sends them to another. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

export interface ServiceMetrics extends RequestMetrics {
  /** Writes all metrics in the text format of Prometheus. */
  readonly render: () => Promise<string>;
  readonly values: () => Promise<MetricValues>;
  /** The values of counters and histograms only; reads no store. */
  readonly counts: () => Promise<MetricValues>;
  readonly close: () => void;
}

export function createServiceMetrics(
  state: MeasuredStore & MeasuredHistory & MeasuredWaits & ServiceFacts & HostState,
): ServiceMetrics {
  const registry = new Registry();
  const requests = addRequestMetrics(registry, state);
  addServiceFacts(registry, state);
  addStoreMetrics(registry, state);
  addHistoryMetrics(registry, state);
  const close = addProcessMetrics(registry, state);
  return {
    ...requests,
    render: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
    counts: async () => {
      const counting = registry.getMetricsAsArray().filter(({ type }) => isCount(type));
      return Promise.all(counting.map((metric) => (metric as unknown as Metric).get()));
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

/** Adds up the counters and histograms of processes that have ended. */
export const addCounts = (...processes: readonly MetricValues[]): Promise<MetricValues> =>
  AggregatorRegistry.aggregate([...processes]).getMetricsAsJSON();

/** Writes the metrics of several processes, each added up as its `aggregator` says. */
export function aggregateMetrics(processes: readonly MetricValues[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics();
}
