import { Gauge, type Registry } from 'prom-client';

/** What the store remembers. Rejects while it cannot be read. */
export interface MeasuredHistory {
  readonly lastCheck: () => Promise<CheckResult | undefined>;
  readonly goodImports: () => Promise<GoodImports>;
}

/** The result of the last check of the store (`subreport doctor`), by any process. */
interface CheckResult {
  readonly problems: number;
  /** UTC epoch seconds. */
  readonly finishedAt: number;
}

/** The imports that ended without a rejected row, by any process. */
interface GoodImports {
  /** When the last of all ended, in UTC epoch seconds; `undefined` if none has. */
  readonly lastAt: number | undefined;
  /** The number of tenants by the age of their last one. */
  readonly tenantsByAge: Readonly<Record<string, number>>;
}

/**
 * Adds the metrics of imports and checks to a registry. While they cannot be read, the metrics are
 * absent.
 */
export function addHistoryMetrics(registry: Registry, { lastCheck, goodImports }: MeasuredHistory): void {
  const addTime = (name: string, help: string, read: () => Promise<number | undefined>) =>
    addGauge(registry, name, help, async (gauge) => gauge.set((await read()) ?? 0));
  addGauge(
    registry,
    'subreport_doctor_problems',
    'Failed checks of the last check of the store; 0 if there was none',
    async (gauge) => gauge.set((await lastCheck())?.problems ?? 0),
  );
  addTime(
    'subreport_doctor_last_run_timestamp_seconds',
    'When the store was last checked, as a Unix time; 0 if it never was',
    async () => (await lastCheck())?.finishedAt,
  );
  addTime(
    'subreport_import_last_success_timestamp_seconds',
    'When an import, by a command or over HTTP, last ended without a rejected row, as a Unix time; 0 if none has',
    async () => (await goodImports()).lastAt,
  );
  const tenants = new Gauge({
    name: 'subreport_tenants',
    help: 'Tenants by the time since their last import without a rejected row',
    labelNames: ['last_import'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      tenants.reset();
      const { tenantsByAge } = await goodImports().catch(() => ({ tenantsByAge: {} }));
      for (const [age, count] of Object.entries(tenantsByAge)) tenants.set({ last_import: age }, count);
    },
  });
}

function addGauge(registry: Registry, name: string, help: string, read: (gauge: Gauge) => Promise<void>): void {
  const gauge = new Gauge({
    name,
    help,
    aggregator: 'max',
    registers: [registry],
    async collect() {
      gauge.remove();
      await read(gauge).catch(() => undefined);
    },
  });
}
