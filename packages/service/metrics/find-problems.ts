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
  const problems: readonly (readonly [HealthProblem['id'], HealthProblem['severity'], number])[] = [
    ['not-ready', 'error', sumOf(metrics, 'subreport_ready') === 0 ? 1 : 0],
    ['doctor', 'error', value('subreport_doctor_problems')],
    ['lost-audit', 'error', value('subreport_audit_lost_entries_total')],
    ['certificate', 'warning', expiringCertificates(metrics, nowSeconds)],
    ['failed-imports', 'warning', failedImports(value)],
    ['rejected-rows', 'warning', value('subreport_import_rows_last_day', { result: 'rejected' })],
    ['unread', 'warning', alwaysThere.filter((name) => sumOf(metrics, name) === undefined).length],
    ['stale-tenants', 'warning', value('subreport_tenants', { last_import: 'older' })],
    ['waiting', 'warning', value('subreport_requests_waiting')],
    ['dropped-log', 'warning', value('subreport_log_lines_dropped_total')],
  ];
  return problems.flatMap(([id, severity, count]) => (count > 0 ? [{ id, severity, count }] : []));
}

const failedImports = (value: (name: string, match?: object) => number): number =>
  value('subreport_imports_last_day', { result: 'failed' }) +
  value('subreport_imports_last_day', { result: 'interrupted' });

const expiringCertificates = (metrics: MetricValues, nowSeconds: number): number =>
  listValues(metrics, 'subreport_certificate_expiry_timestamp_seconds').filter(
    (expiresAt) => expiresAt < nowSeconds + certificateDays * daySeconds,
  ).length;
