import { AggregatorRegistry, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import { addAuditMetrics, type MeasureAudit } from './audit-metrics.ts';
import { addBuildMetrics, type MeasuredBuild } from './build-metrics.ts';
import { addCertificateMetrics, type MeasuredCertificates } from './certificate-metrics.ts';
import { addHistoryMetrics, type MeasuredHistory } from './history-metrics.ts';
import { addHostMetrics, type HostState } from './host-metrics.ts';
import { addImportMetrics, type MeasuredImports } from './import-metrics.ts';
import { addKeyMetrics, type MeasuredKeys } from './key-metrics.ts';
import { addOverloadMetrics, type MeasuredQueue, type MeasureRefusals } from './overload-metrics.ts';
import { addPoolMetrics, type MeasuredPool } from './pool-metrics.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { addRequestMetrics, type MeasureListener } from './request-metrics.ts';
import { addStateMetrics, type MeasuredState } from './state-metrics.ts';
import { addWorkMetrics, type MeasureWork } from './work-metrics.ts';

/** The values of all metrics of a process, as one process sends them to another. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** The metrics of this process. */
export interface ServiceMetrics extends MeasureWork, MeasureRefusals {
  readonly measureListener: MeasureListener;
  readonly audit: MeasureAudit;
  /** Writes all metrics in the text format of Prometheus. */
  readonly render: () => Promise<string>;
  readonly values: () => Promise<MetricValues>;
  /** The values of counters and histograms only; reads no store. */
  readonly counts: () => Promise<MetricValues>;
  readonly close: () => void;
}

/** Creates the metrics of this process. */
export function createServiceMetrics(
  state: MeasuredState &
    MeasuredBuild &
    MeasuredQueue &
    MeasuredPool &
    MeasuredKeys &
    MeasuredCertificates &
    MeasuredHistory &
    MeasuredImports &
    HostState,
): ServiceMetrics {
  const registry = new Registry();
  const measureListener = addRequestMetrics(registry);
  const work = addWorkMetrics(registry);
  const refusals = addOverloadMetrics(registry, state);
  addBuildMetrics(registry, state);
  addStateMetrics(registry, state);
  addPoolMetrics(registry, state);
  addImportMetrics(registry, state);
  addKeyMetrics(registry, state);
  addCertificateMetrics(registry, state);
  addHistoryMetrics(registry, state);
  addHostMetrics(registry, state);
  const close = addProcessMetrics(registry);
  return {
    ...work,
    ...refusals,
    audit: addAuditMetrics(registry),
    measureListener,
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
  addHostMetrics(registry, state);
  addProcessMetrics(registry);
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
