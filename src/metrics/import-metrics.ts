import { Gauge, type Registry } from 'prom-client';
import { createSampler } from './sampler.ts';

/** The imports that the store knows, however they were started. */
export interface MeasuredImports {
  /** Counts the imports that began in the last 24 hours. */
  readonly countImports: () => Promise<
    readonly {
      readonly via: string;
      readonly result: string;
      readonly imports: number;
      readonly accepted: number;
      readonly rejected: number;
    }[]
  >;
}

/** The statement reads a row of each import of the last day. */
const maxAgeMs = 60_000;

/** Adds the metrics of the history of imports to a registry; all processes read the same. */
export function addImportMetrics(registry: Registry, { countImports }: MeasuredImports): void {
  const registers = [registry];
  const aggregator = 'max';
  const read = createSampler(countImports, maxAgeMs);
  new Gauge({
    name: 'subreport_imports_last_day',
    help: 'Imports without dry runs that began in the last 24 hours, by how they were started and how they ended',
    labelNames: ['via', 'result'],
    aggregator,
    registers,
    async collect() {
      const totals = (await read()) ?? [];
      this.reset();
      for (const { via, result, imports } of totals) this.set({ via, result }, imports);
    },
  });
  new Gauge({
    name: 'subreport_import_rows_last_day',
    help: 'Rows of imports that began in the last 24 hours',
    labelNames: ['via', 'result'],
    aggregator,
    registers,
    async collect() {
      const totals = (await read()) ?? [];
      this.reset();
      for (const { via, accepted, rejected } of totals) {
        this.inc({ via, result: 'accepted' }, accepted);
        this.inc({ via, result: 'rejected' }, rejected);
      }
    },
  });
}
