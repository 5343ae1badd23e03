import { Counter, Gauge, type Registry } from 'prom-client';

/** Counts of the rows of a load. */
interface LoadedRows {
  readonly accepted: number;
  readonly rejected: number;
}

/** Receives how many exports and loads are in progress, and what each load did. */
export interface MeasureWork {
  readonly exports: (inProgress: number) => void;
  readonly loads: (inProgress: number) => void;
  readonly loaded: (rows: LoadedRows) => void;
}

/** Adds the metrics of exports and loads to a registry. */
export function addWorkMetrics(registry: Registry): MeasureWork {
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
  const loaded = ({ accepted, rejected }: LoadedRows): void => {
    rows.inc({ result: 'accepted' }, accepted);
    rows.inc({ result: 'rejected' }, rejected);
  };
  loaded({ accepted: 0, rejected: 0 }); // a rate needs a value before the first load
  return {
    exports: (inProgress) => exports.set(inProgress),
    loads: (inProgress) => loads.set(inProgress),
    loaded,
  };
}
