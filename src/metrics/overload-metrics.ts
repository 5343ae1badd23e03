import { Counter, Gauge, type Registry } from 'prom-client';

/** Why a request was rejected: too many wait, or its client has used up its quota. */
const refusals = ['overload', 'rate_limit'] as const;
type Refusal = (typeof refusals)[number];

/** What is read at each scrape. */
export interface MeasuredQueue {
  /** Requests that wait for their turn. */
  readonly waiting: () => number;
}

/** Receives each request that is rejected to protect the service. */
export interface MeasureRefusals {
  readonly refused: (reason: Refusal) => void;
}

/** Adds the metrics of overload to a registry. */
export function addOverloadMetrics(registry: Registry, { waiting }: MeasuredQueue): MeasureRefusals {
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
  return { refused: (reason) => refused.inc({ reason }) };
}
