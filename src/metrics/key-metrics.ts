import { Gauge, type Registry } from 'prom-client';

/** The keys that are measured. */
export interface MeasuredKeys {
  /** Rejects if the keys cannot be read now. */
  readonly keyRotations: () => Promise<readonly MeasuredKey[]>;
}

/** The current key of one purpose. Times are UTC epoch seconds. */
interface MeasuredKey {
  readonly purpose: string;
  readonly activeSince: number;
  /** `null` if it is never rotated automatically. */
  readonly dueAt: number | null;
}

/** Adds the age of the keys to a registry. While they cannot be read, the metrics are absent. */
export function addKeyMetrics(registry: Registry, { keyRotations }: MeasuredKeys): void {
  const add = (name: string, help: string, measure: (key: MeasuredKey) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['purpose'],
      aggregator: 'max',
      registers: [registry],
      async collect() {
        this.reset();
        for (const key of await keyRotations().catch(() => [])) {
          const value = measure(key);
          if (value !== null) this.set({ purpose: key.purpose }, value);
        }
      },
    });
  add('subreport_key_age_seconds', 'Time for which the current key of each purpose has been in use', (key) =>
    Math.max(0, Date.now() / 1000 - key.activeSince),
  );
  add(
    'subreport_key_rotation_due_timestamp_seconds',
    'When the current key of each purpose is rotated, as a Unix time; absent if KEY_ROTATION_DAYS is 0',
    ({ dueAt }) => dueAt,
  );
}
