import { formatInstant } from '../../contract/instant.ts';
import { type HealthPeriod, healthPeriods, type ServiceHealth } from '../../contract/operator/health.ts';
import { findProblems } from './find-problems.ts';
import { healthCharts, type Reading } from './health-charts.ts';
import { parseMetrics, sumOf } from './parse-metrics.ts';

/** Progress of a check of the store. */
export type CheckProgress = ServiceHealth['check'];

/** The state of the service, as one process knows it. */
export interface HealthSource {
  /** `undefined` if the metrics cannot be collected. */
  readonly read: (period: HealthPeriod) => Promise<ServiceHealth | undefined>;
  readonly noteCheck: (progress: CheckProgress) => void;
}

/** Returns the metrics in the text format of Prometheus. */
type Render = () => Promise<string | undefined>;

/** Milliseconds after the start at which the first reading is taken. */
const firstMs = 1_000;

/**
 * Keeps the values of the health charts: one for each minute of the last hour, and one for each
 * five minutes of the last day, some 6,000 numbers. They are lost with the process.
 */
export class HealthHistory implements HealthSource {
  readonly #render: Render;
  readonly #now: () => number;
  readonly #kept = { hour: new Series(healthPeriods.hour.values), day: new Series(healthPeriods.day.values) };
  #check: CheckProgress = null;
  #minutes = 0;
  #timers: readonly NodeJS.Timeout[] = [];

  /** `now` returns milliseconds. */
  constructor(render: Render, now: () => number = Date.now) {
    this.#render = render;
    this.#now = now;
  }

  /** Takes a reading soon, and each minute, until `stop`. */
  start(): void {
    const record = () => void this.record().catch(() => undefined); // the next minute tries again
    this.#timers = [setTimeout(record, firstMs), setInterval(record, healthPeriods.hour.seconds * 1000)];
    for (const timer of this.#timers) timer.unref();
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Adds the values since the last reading; called once a minute. */
  async record(): Promise<void> {
    const reading = await this.#take();
    if (reading === undefined) return;
    this.#kept.hour.add(reading);
    if (this.#minutes % (healthPeriods.day.seconds / healthPeriods.hour.seconds) === 0) this.#kept.day.add(reading);
    this.#minutes += 1;
  }

  noteCheck(progress: CheckProgress): void {
    this.#check = progress;
  }

  async read(period: HealthPeriod): Promise<ServiceHealth | undefined> {
    const reading = await this.#take();
    if (reading === undefined) return undefined;
    const { metrics } = reading;
    const count = (name: string): number => sumOf(metrics, name) ?? 0;
    const [build] = metrics.get('subreport_build_info') ?? [];
    const checkedAt = count('subreport_doctor_last_run_timestamp_seconds');
    return {
      ready: sumOf(metrics, 'subreport_ready') !== 0,
      version: build?.labels.version ?? '',
      processes: count('subreport_processes'),
      tenants: sumOf(metrics, 'subreport_tenants') ?? null,
      requests_waiting: count('subreport_requests_waiting'),
      exports_in_progress: count('subreport_exports_in_progress'),
      loads_in_progress: count('subreport_loads_in_progress'),
      problems: findProblems(metrics, this.#now() / 1000),
      last_check_at: checkedAt === 0 ? null : formatInstant(checkedAt),
      check: this.#check,
      kept_seconds: Math.min(this.#minutes * healthPeriods.hour.seconds, 86_400),
      seconds: healthPeriods[period].seconds,
      last_seconds: this.#kept[period].secondsBefore(reading),
      charts: this.#kept[period].with(reading),
    };
  }

  async #take(): Promise<Reading | undefined> {
    const text = await this.#render();
    return text === undefined ? undefined : { at: this.#now(), metrics: parseMetrics(text) };
  }
}

/** The values of all lines between readings, and the last reading. */
class Series {
  readonly #valuesMax: number;
  readonly #values = new Map<string, number[]>();
  #last: Reading | undefined;

  constructor(valuesMax: number) {
    this.#valuesMax = valuesMax;
  }

  add(reading: Reading): void {
    for (const { id, lines } of healthCharts(reading.metrics))
      for (const line of lines) {
        const values = this.#values.get(`${id} ${line.id}`) ?? [];
        values.push(line.read(this.#last ?? reading, reading) ?? Number.NaN);
        this.#values.set(`${id} ${line.id}`, values.slice(-this.#valuesMax));
      }
    this.#last = reading;
  }

  /** Whole seconds from the last reading to this one; 0 without one. */
  secondsBefore({ at }: Reading): number {
    return Math.max(0, Math.round((at - (this.#last?.at ?? at)) / 1000));
  }

  /** The charts, with the values from the last reading to this one at their end. */
  with(reading: Reading): ServiceHealth['charts'] {
    return healthCharts(reading.metrics).map(({ id, unit, lines }) => ({
      id,
      unit,
      lines: lines.map((line) => {
        const current = line.read(this.#last ?? reading, reading) ?? Number.NaN;
        return { id: line.id, values: [...(this.#values.get(`${id} ${line.id}`) ?? []), current].map(rounded) };
      }),
    }));
  }
}

const rounded = (value: number): number | null => (Number.isFinite(value) ? Number(value.toPrecision(4)) : null);
