import { Gauge, type Registry } from 'prom-client';
import type { StorePart } from '../storage/store.ts';

export interface MeasuredStore {
  /** Rejects if a report cannot be served now. */
  readonly checkReady: () => Promise<void>;
  /** Milliseconds since all changes of other processes were last known. */
  readonly changeMarkAgeMs: () => number;
  readonly readSize: () => Promise<readonly StorePart[]>;
  /** Bytes of the disk of the data directory; rejects if it cannot be read. */
  readonly diskSpace: () => Promise<DiskSpace>;
  /** Former versions of records in the history, their size, and tenants with some to remove. */
  readonly historyUse: () => Promise<MeasuredUse>;
  /** The storage budget of a tenant in bytes; 0 means no limit. */
  readonly tenantBytesMax: number;
  /** Rejects if the keys cannot be read now. */
  readonly keyRotations: () => Promise<readonly MeasuredKey[]>;
}

interface DiskSpace {
  /** What this user can write. */
  readonly free: number;
  readonly total: number;
}

interface MeasuredUse {
  readonly versions: number;
  readonly sweepsDue: number;
  /** The most bytes that a tenant is charged. */
  readonly mostBytes: number;
  /** By how many seconds the history of a tenant is later than the clock. */
  readonly aheadSeconds: number;
}

/** The current key of one purpose. Times are UTC epoch seconds. */
interface MeasuredKey {
  readonly purpose: string;
  readonly activeSince: number;
  /** `null` if it is never rotated automatically. */
  readonly dueAt: number | null;
}

/** PostgreSQL looks at each file of the database, some thousand of them in a large one. */
const sizeMaxAgeMs = 300_000;

/** Adds the metrics of the store, its disk and its keys to a registry. */
export function addStoreMetrics(registry: Registry, store: MeasuredStore): void {
  addStateMetrics(registry, store);
  addDiskMetrics(registry, store.diskSpace);
  addKeyMetrics(registry, store.keyRotations);
}

function addStateMetrics(
  registry: Registry,
  { checkReady, changeMarkAgeMs, readSize, historyUse, tenantBytesMax }: MeasuredStore,
): void {
  const registers = [registry];
  new Gauge({
    name: 'subreport_ready',
    help: '1 if reports can be served, as /readyz says; 0 if any process cannot serve them',
    aggregator: 'min',
    registers,
    async collect() {
      const isReady = await checkReady().then(
        () => true,
        () => false,
      );
      this.set(Number(isReady));
    },
  });
  new Gauge({
    name: 'subreport_change_mark_age_seconds',
    help: 'Time since a process last knew all changes and revocations of other processes; 0 with SQLite or a pooler',
    aggregator: 'max',
    registers,
    collect() {
      this.set(changeMarkAgeMs() / 1000);
    },
  });
  // one after another: a scrape must not wait for a second connection
  const readRarely = createSampler(
    async () => ({
      parts: await readSize(),
      // they ask each node of a cluster: without one of them, the size is still known
      use: await historyUse().catch(() => undefined),
    }),
    sizeMaxAgeMs,
  );
  new Gauge({
    name: 'subreport_store_bytes',
    help: 'Size of the store on disk by part, at most five minutes old; the write-ahead log only with SQLite',
    labelNames: ['part'],
    aggregator: 'max',
    registers,
    async collect() {
      for (const { part, bytes } of (await readRarely())?.parts ?? []) this.set({ part }, bytes);
    },
  });
  addUseMetrics(registry, async () => (await readRarely())?.use);
  addBudgetMetric(registry, async () => (await readRarely())?.use, tenantBytesMax);
}

/** While the use cannot be read, its metrics are absent. */
function addUseMetrics(registry: Registry, readUse: () => Promise<MeasuredUse | undefined>): void {
  const addUse = (name: string, help: string, value: (use: MeasuredUse) => number) =>
    new Gauge({
      name,
      help: `${help}, at most five minutes old`,
      aggregator: 'max',
      registers: [registry],
      async collect() {
        const use = await readUse();
        if (use === undefined) this.remove();
        else this.set(value(use));
      },
    });
  addUse('subreport_history_versions', 'Former versions of records in the history', ({ versions }) => versions);
  addUse(
    'subreport_history_sweeps_due',
    'Tenants that have versions older than HISTORY_DAYS to remove',
    ({ sweepsDue }) => sweepsDue,
  );
  addUse(
    'subreport_history_ahead_seconds',
    'By how much the last commit of a tenant is later than the clock, the most of all tenants',
    ({ aheadSeconds }) => aheadSeconds,
  );
}

function addBudgetMetric(
  registry: Registry,
  readUse: () => Promise<MeasuredUse | undefined>,
  tenantBytesMax: number,
): void {
  new Gauge({
    name: 'subreport_storage_budget_ratio',
    help: 'Share of its storage budget that the fullest tenant uses; at most five minutes old; absent without a budget',
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const use = await readUse();
      if (use === undefined || tenantBytesMax === 0) this.remove();
      else this.set(use.mostBytes / tenantBytesMax);
    },
  });
}

/** Adds the space of the disk. While it cannot be read, the metric is absent. */
function addDiskMetrics(registry: Registry, diskSpace: MeasuredStore['diskSpace']): void {
  new Gauge({
    name: 'subreport_disk_bytes',
    help: 'Space of the disk of the data directory: free or total',
    labelNames: ['space'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      this.reset();
      const space = await diskSpace().catch(() => undefined);
      for (const [name, bytes] of Object.entries(space ?? {})) this.set({ space: name }, bytes);
    },
  });
}

/** Adds the age of the keys. While they cannot be read, the metrics are absent. */
function addKeyMetrics(registry: Registry, keyRotations: MeasuredStore['keyRotations']): void {
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

/**
 * Makes the function that returns a value as last read, and reads it again once it is older than
 * `maxAgeMs`. If that fails, it returns the older value; `subreport_ready` reports the store.
 */
export function createSampler<T>(read: () => Promise<T>, maxAgeMs: number): () => Promise<T | undefined> {
  let value: Promise<T | undefined> = Promise.resolve(undefined);
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - readAt < maxAgeMs) return value;
    readAt = performance.now();
    const older = value;
    value = read().catch(() => older);
    return value;
  };
}
