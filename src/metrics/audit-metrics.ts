import { Counter, type Registry } from 'prom-client';

/** An entry of the audit log, without who and what it names. */
interface MeasuredEntry {
  readonly action: string;
  readonly outcome: string;
}

/** Receives what the audit log of this process recorded. */
export interface MeasureAudit {
  readonly recorded: (entry: MeasuredEntry) => void;
  /** The store did not accept this many entries. */
  readonly writeFailed: (entries: number) => void;
}

/** Adds the metrics of the audit log to a registry. */
export function addAuditMetrics(registry: Registry): MeasureAudit {
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
    recorded: ({ action, outcome }) => recorded.inc({ action, outcome }),
    writeFailed: (entries) => lost.inc(entries),
  };
}
