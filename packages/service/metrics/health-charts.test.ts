import { expect, test } from 'vitest';
import { healthCharts, type Reading } from './health-charts.ts';
import { parseMetrics } from './parse-metrics.ts';

const count = (listener: string, status: string, requests: number): string =>
  `subreport_request_duration_seconds_count{listener="${listener}",operation="x",status_class="${status}"} ${requests}`;

const reading = (seconds: number, ...lines: string[]): Reading => ({
  at: seconds * 1000,
  metrics: parseMetrics(lines.join('\n')),
});

const valuesOf = (id: string, before: Reading, after: Reading): (number | undefined)[] =>
  healthCharts(after.metrics)
    .filter((chart) => chart.id === id)
    .flatMap(({ lines }) => lines.map(({ read }) => read(before, after)));

const before = reading(10, count('public', '2xx', 100), count('public', '5xx', 1));
const after = reading(15, count('public', '2xx', 140), count('public', '5xx', 11), count('management', '2xx', 1000));

test('requests are counted per second and by result, on the public listener only', () => {
  expect(valuesOf('requests', before, after)).toEqual([8, 0, 2]);
});

test('errors are a share of the requests, and nothing without requests', () => {
  expect(valuesOf('errors', before, after)).toEqual([20]);
  expect(valuesOf('errors', after, after)).toEqual([undefined]);
});

test('memory is in mebibytes', () => {
  const memory = reading(1, 'process_resident_memory_bytes 2097152', 'subreport_memory_bytes{memory="a"} 524288');
  expect(valuesOf('memory', memory, memory)).toEqual([2, 0.5]);
});

test('the database is its connections on PostgreSQL, its files on SQLite', () => {
  const postgres = reading(1, 'subreport_pool_connections{state="busy"} 3', 'subreport_pool_waiting 1');
  const sqlite = reading(1, 'subreport_store_bytes{part="database"} 1048576', 'subreport_pool_waiting 0');
  expect(valuesOf('database', postgres, postgres)).toEqual([3, 0, 1]);
  expect(valuesOf('database', sqlite, sqlite)).toEqual([1, 0]);
});
