import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { findProblems } from './find-problems.ts';
import { describeHealth } from './health.ts';
import type { MetricValues } from './metric-values.ts';

const now = 1_780_000_000;

/** A value of a metric: its name, its value and its labels. */
type Sample = readonly [name: string, value: number, labels?: Readonly<Record<string, string>>];

const http = (result: string) => ({ via: 'http', result });
const well: readonly Sample[] = [
  ['subreport_ready', 1],
  ['subreport_doctor_last_run_timestamp_seconds', now - 60],
  ['subreport_doctor_problems', 0],
  ['subreport_import_rows_last_day', 9, http('accepted')],
  ['subreport_imports_last_day', 0, http('failed')],
  ['subreport_tenants', 1, { last_import: 'day' }],
];

/** The metrics of a healthy service, where `changed` replaces or adds values. */
function metricsWith(...changed: readonly Sample[]): Promise<MetricValues> {
  const registry = new Registry();
  const gauges = new Map<string, Gauge>();
  for (const [name, value, labels = {}] of [...well, ...changed]) {
    const made =
      gauges.get(name) ?? new Gauge({ name, help: name, labelNames: Object.keys(labels), registers: [registry] });
    gauges.set(name, made);
    made.set(labels, value);
  }
  return registry.getMetricsAsJSON();
}

test('a healthy service has no problem, and its figures are those of now', async () => {
  const health = describeHealth(await metricsWith(['subreport_requests_waiting', 0]), now);
  expect(health).toMatchObject({ ready: true, problems: [], tenants: 1, requests_waiting: 0 });
  expect(health.last_check_at).toBe('2026-05-28T20:25:40Z');
});

test.each<{ sample: Sample; id: string }>([
  { sample: ['subreport_ready', 0], id: 'not-ready' },
  { sample: ['subreport_doctor_problems', 2], id: 'doctor' },
  { sample: ['subreport_audit_lost_entries_total', 3], id: 'lost-audit' },
  { sample: ['subreport_imports_last_day', 4, http('failed')], id: 'failed-imports' },
  { sample: ['subreport_import_rows_last_day', 3, http('rejected')], id: 'rejected-rows' },
  { sample: ['subreport_tenants', 5, { last_import: 'older' }], id: 'stale-tenants' },
  { sample: ['subreport_requests_waiting', 6], id: 'waiting' },
  {
    sample: ['subreport_certificate_expiry_timestamp_seconds', now + 13 * 86_400, { listener: 'public' }],
    id: 'certificate',
  },
])('$sample is the problem $id', async ({ sample, id }) => {
  const [, value] = sample;
  const count = value > 0 && value < now ? value : 1;
  expect(findProblems(await metricsWith(sample), now)).toEqual([expect.objectContaining({ id, count })]);
});

test('a store that was never checked is no problem: the service checks it soon', async () => {
  const metrics = await metricsWith(['subreport_doctor_last_run_timestamp_seconds', 0]);
  expect(findProblems(metrics, now)).toEqual([]);
  expect(describeHealth(metrics, now).last_check_at).toBeNull();
});

test('a certificate that is valid for a month is no problem', async () => {
  const month: Sample = ['subreport_certificate_expiry_timestamp_seconds', now + 30 * 86_400, { listener: 'public' }];
  expect(findProblems(await metricsWith(month), now)).toEqual([]);
});

test.each([
  'subreport_doctor_problems',
  'subreport_doctor_last_run_timestamp_seconds',
  'subreport_imports_last_day',
  'subreport_tenants',
])('a service whose store does not tell %s is not healthy: nothing is known of it', async (name) => {
  const known = (await metricsWith()).filter((metric) => metric.name !== name);
  expect(findProblems(known, now)).toEqual([{ id: 'unread', severity: 'warning', count: 1 }]);
});
