import { increaseOf, type Match, type Metrics, quantileOf, sumOf } from './parse-metrics.ts';

/** The metrics at one time. */
export interface Reading {
  /** In milliseconds. */
  readonly at: number;
  readonly metrics: Metrics;
}

type ChartId = 'requests' | 'duration' | 'errors' | 'refused' | 'event-loop' | 'database' | 'memory' | 'imports';
type Unit = 'per-second' | 'milliseconds' | 'percent' | 'connections' | 'mebibytes';
type LineId =
  | ('success' | 'client-error' | 'server-error' | 'median' | 'p99' | 'failed' | 'rate-limit' | 'overload')
  | ('busy' | 'idle' | 'waiting' | 'database-file' | 'wal' | 'resident' | 'caches' | 'accepted' | 'rejected');

/** A line of a chart: its value between two readings, or at the second one. */
interface Line {
  readonly id: LineId;
  /** `undefined` if there is no value, such as a duration without requests. */
  readonly read: (before: Reading, after: Reading) => number | undefined;
}

/** A chart of the state of the service. */
interface HealthChart {
  readonly id: ChartId;
  readonly unit: Unit;
  readonly lines: readonly Line[];
}

const duration = 'subreport_request_duration_seconds';
const reports: Match = { listener: 'public' };
const mebibyte = 2 ** 20;

const rate =
  (name: string, ...matches: readonly Match[]): Line['read'] =>
  (before, after) => {
    const seconds = (after.at - before.at) / 1000;
    const increases = matches.map((match) => increaseOf(before.metrics, after.metrics, name, match) ?? 0);
    return seconds > 0 ? increases.reduce((sum, each) => sum + each, 0) / seconds : undefined;
  };

const gauge =
  (name: string, match: Match = {}, factor = 1): Line['read'] =>
  (_before, { metrics }) => {
    const value = sumOf(metrics, name, match);
    return value === undefined ? undefined : value * factor;
  };

const quantile =
  (share: number): Line['read'] =>
  (before, after) => {
    const seconds = quantileOf(before.metrics, after.metrics, duration, share, reports);
    return seconds === undefined ? undefined : seconds * 1000;
  };

const failedShare: Line['read'] = ({ metrics: before }, { metrics: after }) => {
  const all = increaseOf(before, after, `${duration}_count`, reports) ?? 0;
  const failed = increaseOf(before, after, `${duration}_count`, { ...reports, status_class: '5xx' }) ?? 0;
  return all === 0 ? undefined : (100 * failed) / all;
};

const statusClass = (status: string): Match => ({ ...reports, status_class: status });

const pool: HealthChart = {
  id: 'database',
  unit: 'connections',
  lines: [
    { id: 'busy', read: gauge('subreport_pool_connections', { state: 'busy' }) },
    { id: 'idle', read: gauge('subreport_pool_connections', { state: 'idle' }) },
    { id: 'waiting', read: gauge('subreport_pool_waiting') },
  ],
};

const file: HealthChart = {
  id: 'database',
  unit: 'mebibytes',
  lines: [
    { id: 'database-file', read: gauge('subreport_store_bytes', { part: 'database' }, 1 / mebibyte) },
    { id: 'wal', read: gauge('subreport_store_bytes', { part: 'wal' }, 1 / mebibyte) },
  ],
};

/** The charts of the state of the service; SQLite has no pool of connections. */
export const healthCharts = (metrics: Metrics): readonly HealthChart[] => [
  {
    id: 'requests',
    unit: 'per-second',
    lines: [
      { id: 'success', read: rate(`${duration}_count`, statusClass('2xx'), statusClass('3xx')) },
      { id: 'client-error', read: rate(`${duration}_count`, statusClass('4xx')) },
      { id: 'server-error', read: rate(`${duration}_count`, statusClass('5xx')) },
    ],
  },
  {
    id: 'duration',
    unit: 'milliseconds',
    lines: [
      { id: 'median', read: quantile(0.5) },
      { id: 'p99', read: quantile(0.99) },
    ],
  },
  { id: 'errors', unit: 'percent', lines: [{ id: 'failed', read: failedShare }] },
  {
    id: 'refused',
    unit: 'per-second',
    lines: [
      { id: 'rate-limit', read: rate('subreport_requests_refused_total', { reason: 'rate_limit' }) },
      { id: 'overload', read: rate('subreport_requests_refused_total', { reason: 'overload' }) },
    ],
  },
  {
    id: 'event-loop',
    unit: 'milliseconds',
    lines: [
      { id: 'median', read: gauge('subreport_event_loop_delay_seconds', { percentile: '50' }, 1000) },
      { id: 'p99', read: gauge('subreport_event_loop_delay_seconds', { percentile: '99' }, 1000) },
    ],
  },
  (metrics.get('subreport_pool_connections')?.length ?? 0) > 0 ? pool : file,
  {
    id: 'memory',
    unit: 'mebibytes',
    lines: [
      { id: 'resident', read: gauge('process_resident_memory_bytes', {}, 1 / mebibyte) },
      { id: 'caches', read: gauge('subreport_memory_bytes', {}, 1 / mebibyte) },
    ],
  },
  {
    id: 'imports',
    unit: 'per-second',
    lines: [
      { id: 'accepted', read: rate('subreport_load_rows_total', { result: 'accepted' }) },
      { id: 'rejected', read: rate('subreport_load_rows_total', { result: 'rejected' }) },
    ],
  },
];
