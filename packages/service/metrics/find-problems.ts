import type { ServiceHealth } from '../../contract/operator/health.ts';
import { listValues, type MetricValues, sumOf } from './metric-values.ts';

type HealthProblem = ServiceHealth['problems'][number];

const daySeconds = 86_400;
/** Certificates are renewed some 30 days before their end; half of that is late. */
const certificateDays = 14;

/**
 * Metrics that are absent only while the store cannot be read: then they are no proof of health.
 */
const alwaysThere = [
  'subreport_doctor_problems',
  'subreport_doctor_last_run_timestamp_seconds',
  'subreport_imports_last_day',
  'subreport_tenants',
];

/** Finds what is wrong according to the metrics, the worst first. */
export function findProblems(metrics: MetricValues, nowSeconds: number): HealthProblem[] {
  const value = (name: string, match = {}): number => sumOf(metrics, name, match) ?? 0;
  const problems: HealthProblem[] = [
    {
      id: 'not-ready',
      severity: 'error',
      count: sumOf(metrics, 'subreport_ready') === 0 ? 1 : 0,
    },
    { id: 'doctor', severity: 'error', count: value('subreport_doctor_problems') },
    { id: 'lost-audit', severity: 'error', count: value('subreport_audit_lost_entries_total') },
    { id: 'certificate', severity: 'warning', count: expiringCertificates(metrics, nowSeconds) },
    { id: 'failed-imports', severity: 'warning', count: failedImports(value) },
    {
      id: 'rejected-rows',
      severity: 'warning',
      count: value('subreport_import_rows_last_day', { result: 'rejected' }),
    },
    {
      id: 'unread',
      severity: 'warning',
      count: alwaysThere.filter((name) => sumOf(metrics, name) === undefined).length,
    },
    { id: 'stale-tenants', severity: 'warning', count: value('subreport_tenants', { last_import: 'older' }) },
    { id: 'waiting', severity: 'warning', count: value('subreport_requests_waiting') },
    { id: 'dropped-log', severity: 'warning', count: value('subreport_log_lines_dropped_total') },
  ];
  return problems.filter(({ count }) => count > 0);
}

const failedImports = (value: (name: string, match?: object) => number): number =>
  value('subreport_imports_last_day', { result: 'failed' }) +
  value('subreport_imports_last_day', { result: 'interrupted' });

const expiringCertificates = (metrics: MetricValues, nowSeconds: number): number =>
  listValues(metrics, 'subreport_certificate_expiry_timestamp_seconds').filter(
    (expiresAt) => expiresAt < nowSeconds + certificateDays * daySeconds,
  ).length;
