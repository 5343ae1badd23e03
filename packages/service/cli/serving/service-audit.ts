import type { Logger } from 'pino';
import { type AuditLog, createAuditLog } from '../../audit/audit-log.ts';
import { type AuditTally, createAuditTally } from '../../audit/audit-tally.ts';
import { tokenEvent } from '../../audit/token-event.ts';
import type { ResponseObserver } from '../../http/listener/access-log.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Store } from '../../storage/store.ts';
import type { OpenedMetrics } from './open-metrics.ts';

interface ServiceAudit {
  readonly log: AuditLog;
  /** Counts what any caller can cause. Close it before the store. */
  readonly tally: AuditTally;
  /** Observes the responses of the public listener, for the metrics too. */
  readonly observe: ResponseObserver;
}

export function openAuditStream(store: Store, logger: Logger, metrics: OpenedMetrics | undefined): AuditLog {
  // also with LOG_LEVEL=warn, as the lines are evidence
  const stream = logger.child({}, { level: logger.level === 'silent' ? 'silent' : 'info' });
  return createAuditLog({
    store,
    now: nowSeconds,
    write: (entry) => stream.info(entry, 'audit'),
    measure: metrics?.metrics.audit,
  });
}

/** The same with a tally, for a process that handles requests. */
export function openServiceAudit(store: Store, logger: Logger, metrics: OpenedMetrics | undefined): ServiceAudit {
  const log = openAuditStream(store, logger, metrics);
  const tally = createAuditTally({
    log,
    now: nowSeconds,
    onFailure: (error) => logger.warn({ err: error }, 'the store did not accept audit entries; only this log has them'),
  });
  return {
    log,
    tally,
    observe(line, outcome) {
      metrics?.observePublic(line, outcome);
      const event = outcome == null ? undefined : tokenEvent(line.route, line.access, outcome);
      if (event !== undefined) tally.add(event);
    },
  };
}
