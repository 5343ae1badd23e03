import { formatInstant } from '../../contract/instant.ts';
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
 * Events of an action that are recorded with their address each minute, of all anonymous callers
 * together and of each authenticated one; its other events are counted per error. So no caller uses
 * up the entries of another action or of an authenticated caller: a client adds at most some 40
 * entries a minute and action, and anonymous callers the same, 10 MB a day and process.
 */
const distinctMax = 30;

/** Entries that are added in one transaction. */
const batchMax = 500;

interface Counted {
  readonly event: AuditEvent;
  readonly since: number;
  count: number;
}

export function createAuditTally({ log, now, onFailure }: AuditTallyOptions): AuditTally {
  let counted = new Map<string, Counted>();
  /** Number of events of an action and a caller that are counted separately. */
  let places = new Map<string, number>();
  const count = (key: string, event: AuditEvent): void => {
    const known = counted.get(key);
    if (known === undefined) counted.set(key, { event, since: now(), count: 1 });
    else known.count += 1;
  };
  const flush = async (): Promise<void> => {
    const events = [...counted.values()].map(toEvent);
    counted = new Map();
    places = new Map();
    for (let start = 0; start < events.length; start += batchMax)
      await log.record(events.slice(start, start + batchMax)).catch(onFailure);
  };
  const timer = setInterval(() => void flush(), flushMs).unref();
  return {
    add(event) {
      const key = keyOf(event);
      const { action, actor } = event;
      const caller = JSON.stringify([action, actor.kind, actor.id]);
      const taken = places.get(caller) ?? 0;
      if (counted.has(key) || taken < distinctMax) {
        if (!counted.has(key)) places.set(caller, taken + 1);
        count(key, event);
      } else count(keyOf(merged(event)), merged(event));
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

const keyOf = ({ action, outcome, error, actor, address, clientId, details }: AuditEvent): string =>
  JSON.stringify([action, outcome, error, actor.kind, actor.id, address, clientId, details]);

/** The event that counts for all others if they are too many; it names no anonymous caller. */
const merged = (event: AuditEvent): AuditEvent => {
  const isAnonymous = event.actor.kind === 'anonymous';
  return {
    ...event,
    ...(isAnonymous && { tenant: null, clientId: null }),
    ...{ address: null, correlationId: null, details: { others: true } },
  };
};

const toEvent = ({ event, since, count }: Counted): AuditEvent => ({
  ...event,
  details: { ...event.details, count, since: formatInstant(since) },
});
