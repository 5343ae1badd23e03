import { Counter, Histogram, type Registry } from 'prom-client';
import { tokenErrorStatuses } from '../../contract/error-code.ts';
import type { PoolUse } from '../storage/store.ts';
import { readMetricsOf } from './read-metric.ts';
import { addAuditMetrics, addWorkMetrics } from './work-metrics.ts';

/** A response, as the access log describes it. */
interface MeasuredResponse {
  readonly method: string;
  /** Pattern of the route; `null` if no route matched. */
  readonly route: string | null;
  readonly status: number;
  readonly durationMs: number;
}

/** The outcome of a request by an OAuth client. */
interface MeasuredOutcome {
  readonly outcome: 'accepted' | 'refused';
  readonly error?: string;
}

/** Measures one response; `outcome` is that of a request with client credentials. */
export type MeasureResponse = (response: MeasuredResponse, outcome?: MeasuredOutcome | null) => void;

/** The operations of a listener by method and route: a fixed set of names, never a URL. */
interface MeasuredOperations {
  readonly names: readonly string[];
  readonly nameOf: (method: string, route: string | null) => string;
}

/** From a 304 to a long export. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Receives what the listeners, the queue, exports, loads and the audit log of this process do. */
export type RequestMetrics = ReturnType<typeof addRequestMetrics>;

/** Adds the metrics of requests and of the work that they begin to a registry. */
export function addRequestMetrics(registry: Registry, waits: MeasuredWaits) {
  addPoolMetrics(registry, waits);
  return {
    measureListener: addResponseMetrics(registry),
    ...addOverloadMetrics(registry, waits),
    ...addWorkMetrics(registry),
    audit: addAuditMetrics(registry),
  };
}

/**
 * A rate needs a value before the first failure, or an alert misses it: the series of failures that
 * the alert rules read (`deploy/prometheus-rules.yaml`) begin at 0.
 */
function addResponseMetrics(registry: Registry) {
  const registers = [registry];
  const duration = new Histogram({
    name: 'subreport_request_duration_seconds',
    help: 'Time from the request to the end of its response',
    labelNames: ['listener', 'operation', 'status_class'],
    buckets,
    registers,
  });
  const outcomes = new Counter({
    name: 'subreport_token_requests_total',
    help: 'Requests with client credentials by outcome: accepted, or the error code of the response',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  for (const outcome of ['accepted', ...Object.keys(tokenErrorStatuses)])
    outcomes.inc({ operation: 'issueToken', outcome }, 0);
  return (listener: 'public' | 'management', { names, nameOf }: MeasuredOperations): MeasureResponse => {
    for (const operation of names) duration.zero({ listener, operation, status_class: '5xx' });
    return ({ method, route, status, durationMs }, outcome) => {
      const operation = nameOf(method, route);
      duration.observe({ listener, operation, status_class: statusClass(status) }, durationMs / 1000);
      if (outcome != null) outcomes.inc({ operation, outcome: outcome.error ?? outcome.outcome });
    };
  };
}

const statusClass = (status: number): string => `${Math.floor(status / 100)}xx`;

/** Why a request was rejected: too many wait, or its client has used up its quota. */
const refusals = ['overload', 'rate_limit'] as const;
type Refusal = (typeof refusals)[number];

/** What requests wait for: their turn in the queue, and a connection of the pool. */
export interface MeasuredWaits {
  /** Requests that wait for their turn. */
  readonly waiting: () => number;
  /** `undefined` if the store has no connection pool. */
  readonly poolUse: () => PoolUse | undefined;
  /** Calls `observe` with the seconds that each use of the pool waited for its connection. */
  readonly observePoolWaits: (observe: (seconds: number) => void) => void;
}

function addOverloadMetrics(registry: Registry, { waiting }: MeasuredWaits) {
  const { gauge } = readMetricsOf(registry);
  gauge('subreport_requests_waiting', 'Requests that wait for their turn, at most 200', waiting, { aggregator: 'sum' });
  const refused = new Counter({
    name: 'subreport_requests_refused_total',
    help: 'Requests that were rejected because too many waited (overload) or by the rate limit',
    labelNames: ['reason'],
    registers: [registry],
  });
  // a rate needs a value before the first refusals
  for (const reason of refusals) refused.inc({ reason }, 0);
  return { refused: (reason: Refusal) => refused.inc({ reason }) };
}

/** From an idle connection to the longest wait, 5 seconds. */
const poolBuckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5];

function addPoolMetrics(registry: Registry, { poolUse, observePoolWaits }: MeasuredWaits): void {
  const { gauge } = readMetricsOf(registry);
  gauge(
    'subreport_pool_connections',
    'Connections to PostgreSQL by state; absent with SQLite',
    () => {
      const use = poolUse();
      if (use === undefined) return undefined;
      return [
        [{ state: 'busy' }, use.busy],
        [{ state: 'idle' }, use.idle],
      ];
    },
    { labels: ['state'], aggregator: 'sum' },
  );
  gauge(
    'subreport_pool_waiting',
    'Requests that wait for a connection to PostgreSQL; 0 with SQLite',
    () => poolUse()?.waiting ?? 0,
    { aggregator: 'sum' },
  );
  const wait = new Histogram({
    name: 'subreport_pool_wait_seconds',
    help: 'Time that each use of a connection to PostgreSQL waited for it; without observations with SQLite',
    buckets: poolBuckets,
    registers: [registry],
  });
  observePoolWaits((seconds) => wait.observe(seconds));
}
