import { formatInstant } from '../../contract/instant.ts';
import type { ServiceHealth } from '../../contract/operator/health.ts';
import { findProblems } from './find-problems.ts';
import { labelOf, type MetricValues, sumOf } from './metric-values.ts';

/** Reads the state of the service; throws if the metrics cannot be collected. */
export type ReadHealth = () => Promise<ServiceHealth>;

/** The state of the service, as its metrics show it. */
export function describeHealth(metrics: MetricValues, nowSeconds = Date.now() / 1000): ServiceHealth {
  const count = (name: string): number => sumOf(metrics, name) ?? 0;
  const checkedAt = count('subreport_doctor_last_run_timestamp_seconds');
  return {
    ready: sumOf(metrics, 'subreport_ready') !== 0,
    version: labelOf(metrics, 'subreport_build_info', 'version') ?? '',
    processes: count('subreport_processes'),
    tenants: sumOf(metrics, 'subreport_tenants') ?? null,
    requests_waiting: count('subreport_requests_waiting'),
    exports_in_progress: count('subreport_exports_in_progress'),
    loads_in_progress: count('subreport_loads_in_progress'),
    problems: findProblems(metrics, nowSeconds),
    last_check_at: checkedAt === 0 ? null : formatInstant(checkedAt),
  };
}
