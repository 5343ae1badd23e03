import { Counter, Gauge, type Registry } from 'prom-client';

export function addWorkMetrics(registry: Registry) {
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

export function addAuditMetrics(registry: Registry) {
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
    /** An entry of the audit log, without who and what it names. */
    recorded: (entry: { readonly action: string; readonly outcome: string }) =>
      recorded.inc({ action: entry.action, outcome: entry.outcome }),
    /** The store did not accept this many entries. */
    writeFailed: (entries: number) => lost.inc(entries),
  };
}
