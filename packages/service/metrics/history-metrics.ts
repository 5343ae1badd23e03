import { Gauge, type Registry } from 'prom-client';
import { createSampler } from './store-metrics.ts';

/**
 * The history of imports, checks and backups, by any process. All reject while the store cannot be
 * read.
 */
export interface MeasuredHistory {
  /** Counts the imports that began in the last 24 hours. */
  readonly countImports: () => Promise<readonly DayTotal[]>;
  readonly lastCheck: () => Promise<CheckResult | undefined>;
  /** When an import last ended without a rejected row, in UTC epoch seconds, if any has. */
  readonly lastGoodImport: () => Promise<number | undefined>;
  /** The number of tenants by the age of their last import without a rejected row. */
  readonly tenantsByImport: () => Promise<Readonly<Record<string, number>>>;
  /** When the last backup ended, in UTC epoch seconds; `undefined` if there was none. */
  readonly lastBackup: () => Promise<number | undefined>;
}

interface DayTotal {
  readonly via: string;
  readonly result: string;
  readonly imports: number;
  readonly accepted: number;
  readonly rejected: number;
}

/** The result of the last check of the store (`subreport doctor`), by any process. */
interface CheckResult {
  readonly problems: number;
  /** UTC epoch seconds. */
  readonly finishedAt: number;
}

/** The statement reads a row of each import of the last day. */
const maxAgeMs = 60_000;

/** Adds the metrics of imports and checks to a registry; all processes read the same. */
export function addHistoryMetrics(registry: Registry, history: MeasuredHistory): void {
  addDayMetrics(registry, history);
  addLastMetrics(registry, history);
}

function addDayMetrics(registry: Registry, { countImports }: MeasuredHistory): void {
  const read = createSampler(countImports, maxAgeMs);
  const add = (name: string, help: string, show: (gauge: Gauge, total: DayTotal) => void, results: readonly string[]) =>
    new Gauge({
      name,
      help,
      labelNames: ['via', 'result'],
      aggregator: 'max',
      registers: [registry],
      async collect() {
        const totals = await read();
        this.reset();
        if (totals === undefined) return; // not 0: nothing was read
        for (const result of results) this.set({ via: 'http', result }, 0);
        for (const total of totals) show(this, total);
      },
    });
  add(
    'subreport_imports_last_day',
    'Imports without dry runs that began in the last 24 hours, by how they were started and how they ended',
    (gauge, { via, result, imports }) => gauge.set({ via, result }, imports),
    ['ok', 'failed'],
  );
  add(
    'subreport_import_rows_last_day',
    'Rows of imports that began in the last 24 hours',
    (gauge, { via, accepted, rejected }) => {
      gauge.inc({ via, result: 'accepted' }, accepted);
      gauge.inc({ via, result: 'rejected' }, rejected);
    },
    ['accepted', 'rejected'],
  );
}

/** While the last imports and checks cannot be read, their metrics are absent. */
function addLastMetrics(
  registry: Registry,
  { lastCheck, lastGoodImport, tenantsByImport, lastBackup }: MeasuredHistory,
): void {
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
    lastGoodImport,
  );
  addTime(
    'subreport_backup_last_success_timestamp_seconds',
    'When a backup last ended, as a Unix time; 0 if there was none',
    lastBackup,
  );
  const tenants = new Gauge({
    name: 'subreport_tenants',
    help: 'Tenants by the time since their last import without a rejected row',
    labelNames: ['last_import'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      tenants.reset();
      const counts = await tenantsByImport().catch(() => ({}));
      for (const [age, count] of Object.entries(counts)) tenants.set({ last_import: age }, count);
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
