import { expect, test } from 'vitest';
import { findProblems } from './find-problems.ts';
import { parseMetrics } from './parse-metrics.ts';

const now = 1_780_000_000;
const well = [
  'subreport_ready 1',
  `subreport_doctor_last_run_timestamp_seconds ${now - 60}`,
  'subreport_doctor_problems 0',
  'subreport_import_rows_last_day{via="http",result="accepted"} 9',
  'subreport_imports_last_day{via="http",result="failed"} 0',
  'subreport_tenants{last_import="day"} 1',
];

test('a healthy service has no problem', () => {
  expect(findProblems(parseMetrics(well.join('\n')), now)).toEqual([]);
});

test.each([
  { line: 'subreport_ready 0', id: 'not-ready', count: 1 },
  { line: 'subreport_doctor_problems 2', id: 'doctor', count: 2 },
  { line: 'subreport_audit_lost_entries_total 3', id: 'lost-audit', count: 3 },
  { line: 'subreport_imports_last_day{via="http",result="failed"} 4', id: 'failed-imports', count: 4 },
  { line: 'subreport_import_rows_last_day{via="http",result="rejected"} 3', id: 'rejected-rows', count: 3 },
  { line: 'subreport_tenants{last_import="older"} 5', id: 'stale-tenants', count: 5 },
  {
    line: `subreport_certificate_expiry_timestamp_seconds{listener="public"} ${now + 13 * 86_400}`,
    id: 'certificate',
    count: 1,
  },
])('$line is the problem $id', ({ line, id, count }) => {
  const series = line.replace(/ \S+$/, ' ');
  const lines = [...well.filter((each) => !each.startsWith(series)), line];
  expect(findProblems(parseMetrics(lines.join('\n')), now)).toEqual([expect.objectContaining({ id, count })]);
});

test('a store that was never checked is no problem: the service checks it soon', () => {
  const lines = well.map((line) => line.replace(/^(subreport_doctor_last_run\S+) .*/, '$1 0'));
  expect(findProblems(parseMetrics(lines.join('\n')), now)).toEqual([]);
});

test('a certificate that is valid for a month is no problem', () => {
  const line = `subreport_certificate_expiry_timestamp_seconds{listener="public"} ${now + 30 * 86_400}`;
  expect(findProblems(parseMetrics([...well, line].join('\n')), now)).toEqual([]);
});

test.each([
  'subreport_doctor_problems',
  'subreport_doctor_last_run_timestamp_seconds',
  'subreport_imports_last_day',
  'subreport_tenants',
])('a service whose store does not tell %s is not healthy: nothing is known of it', (name) => {
  const lines = well.filter((line) => !line.startsWith(name));
  expect(findProblems(parseMetrics(lines.join('\n')), now)).toEqual([{ id: 'unread', severity: 'warning', count: 1 }]);
});
