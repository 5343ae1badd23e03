import { Counter, Histogram, type Registry } from 'prom-client';

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

/** Names the operation of a method and a route: a fixed set of names, never a URL. */
type NameOperation = (method: string, route: string | null) => string;

/** From a repeated page to a long export. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Makes the function that measures the responses of a listener. */
export type MeasureListener = (listener: 'public' | 'management', nameOperation: NameOperation) => MeasureResponse;

/** Adds the metrics of requests to a registry. */
export function addRequestMetrics(registry: Registry): MeasureListener {
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
  return (listener, nameOperation) =>
    ({ method, route, status, durationMs }, outcome) => {
      const operation = nameOperation(method, route);
      duration.observe({ listener, operation, status_class: statusClass(status) }, durationMs / 1000);
      if (outcome != null) outcomes.inc({ operation, outcome: outcome.error ?? outcome.outcome });
    };
}

const statusClass = (status: number): string => `${Math.floor(status / 100)}xx`;
