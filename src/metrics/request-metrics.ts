import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { tokenErrorStatuses } from '../contract/error-code.ts';

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

/** From a cached page to a long export. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Receives what the listeners, the queue, exports, loads and the audit log of this process do. */
export type RequestMetrics = ReturnType<typeof addRequestMetrics>;

/** Adds the metrics of requests and of the work that they begin to a registry. */
export function addRequestMetrics(registry: Registry, queue: MeasuredQueue) {
  return {
    measureListener: addResponseMetrics(registry),
    ...addOverloadMetrics(registry, queue),
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

/** What is read at each scrape. */
export interface MeasuredQueue {
  /** Requests that wait for their turn. */
  readonly waiting: () => number;
}

function addOverloadMetrics(registry: Registry, { waiting }: MeasuredQueue) {
  const registers = [registry];
  new Gauge({
    name: 'subreport_requests_waiting',
    help: 'Requests that wait for their turn (REQUESTS_WAITING_MAX)',
    registers,
    collect() {
      this.set(waiting());
    },
  });
  const refused = new Counter({
    name: 'subreport_requests_refused_total',
    help: 'Requests that were rejected because too many waited (overload) or by the rate limit',
    labelNames: ['reason'],
    registers,
  });
  // a rate needs a value before the first refusals
  for (const reason of refusals) refused.inc({ reason }, 0);
  return { refused: (reason: Refusal) => refused.inc({ reason }) };
}

function addWorkMetrics(registry: Registry) {
  const registers = [registry];
  const exports = new Gauge({ name: 'subreport_exports_in_progress', help: 'Exports in progress', registers });
  const loads = new Gauge({
    name: 'subreport_loads_in_progress',
    help: 'Loads over HTTP in progress',
    registers,
  });
  const rows = new Counter({
    name: 'subreport_load_rows_total',
    help: 'Rows of finished loads over HTTP, without dry runs',
    labelNames: ['result'],
    registers,
  });
  const loaded = ({ accepted, rejected }: { readonly accepted: number; readonly rejected: number }): void => {
    rows.inc({ result: 'accepted' }, accepted);
    rows.inc({ result: 'rejected' }, rejected);
  };
  loaded({ accepted: 0, rejected: 0 }); // a rate needs a value before the first load
  return {
    exports: (inProgress: number) => exports.set(inProgress),
    loads: (inProgress: number) => loads.set(inProgress),
    loaded,
  };
}

/** An entry of the audit log, without who and what it names. */
interface MeasuredEntry {
  readonly action: string;
  readonly outcome: string;
}

function addAuditMetrics(registry: Registry) {
  const registers = [registry];
  const recorded = new Counter({
    name: 'subreport_audit_entries_total',
    help: 'Entries that the service added to the audit log',
    labelNames: ['action', 'outcome'],
    registers,
  });
  const lost = new Counter({
    name: 'subreport_audit_lost_entries_total',
    help: 'Audit entries that the store did not accept; they are only in the log stream',
    registers,
  });
  return {
    recorded: ({ action, outcome }: MeasuredEntry) => recorded.inc({ action, outcome }),
    /** The store did not accept this many entries. */
    writeFailed: (entries: number) => lost.inc(entries),
  };
}
