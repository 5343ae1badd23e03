import { Gauge, type Registry } from 'prom-client';

/** What runs. */
export interface MeasuredBuild {
  /** Version of subreport. */
  readonly version: string;
}

/** Adds the version to a registry, as a label of a metric that is always 1. */
export function addBuildMetrics(registry: Registry, { version }: MeasuredBuild): void {
  new Gauge({
    name: 'subreport_build_info',
    help: 'Always 1; the label is the version of subreport',
    labelNames: ['version'],
    aggregator: 'max',
    registers: [registry],
  }).set({ version }, 1);
}
