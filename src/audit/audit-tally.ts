import { formatInstant } from '../contract/instant.ts';
import type { AuditEvent } from './audit-event.ts';
import type { AuditLog } from './audit-log.ts';

/** Counts events that any caller can cause, and records each kind once a minute. */
export interface AuditTally {
  /** Counts an event; takes microseconds and never fails. */
  readonly add: (event: AuditEvent) => void;
  /** Records what was counted; a failure of the store is reported to `onFailure`. */
  readonly flush: () => Promise<void>;
  /** Records what was counted, and stops. */
  readonly close: () => Promise<void>;
}

interface AuditTallyOptions {
  readonly log: Pick<AuditLog, 'record'>;
  /** UTC epoch seconds. */
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}

const flushMs = 60_000;

/**
 * Events that are recorded with their client and address each minute; the others are counted per
 * action and error. At most 43,200 entries a day and process, some 10 MB.
 */
const distinctMax = 30;

interface Counted {
  readonly event: AuditEvent;
  readonly since: number;
  count: number;
}

/** Creates a tally that records once a minute. */
export function createAuditTally({ log, now, onFailure }: AuditTallyOptions): AuditTally {
  let counted = new Map<string, Counted>();
  const count = (key: string, event: AuditEvent): void => {
    const known = counted.get(key);
    if (known === undefined) counted.set(key, { event, since: now(), count: 1 });
    else known.count += 1;
  };
  const flush = async (): Promise<void> => {
    const events = [...counted.values()].map(toEvent);
    counted = new Map();
    if (events.length > 0) await log.record(events).catch(onFailure);
  };
  const timer = setInterval(() => void flush(), flushMs).unref();
  return {
    add(event) {
      const key = keyOf(event);
      if (counted.has(key) || counted.size < distinctMax) count(key, event);
      else count(keyOf(withoutCaller(event)), withoutCaller(event));
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

const keyOf = ({ action, outcome, error, actor, address, clientId }: AuditEvent): string =>
  JSON.stringify([action, outcome, error, actor.kind, actor.id, address, clientId]);

/** The event as counted when there are too many callers. */
const withoutCaller = (event: AuditEvent): AuditEvent => ({
  ...event,
  actor: { kind: 'anonymous', id: null, name: null },
  address: null,
  tenant: null,
  clientId: null,
  correlationId: null,
  details: { others: true },
});

const toEvent = ({ event, since, count }: Counted): AuditEvent => ({
  ...event,
  details: { ...event.details, count, since: formatInstant(since) },
});
