import type { Registry } from 'prom-client';
import type { Store } from '../storage/store.ts';
import { findLastBackup } from '../storage/tables/audit-entry.ts';
import { findDoctorResult } from '../storage/tables/doctor-result.ts';
import { countImports, countTenantsByImport, readLastGoodImport } from '../storage/tables/import-totals.ts';
import { readHistoryUse } from '../storage/tables/sweep-versions.ts';
import { readMetricsOf } from './read-metric.ts';

/** What a process measures of its store, and of what else it was configured with. */
export interface MeasuredStore {
  readonly version: string;
  /** The store, whose reads end within the time of a scrape. */
  readonly open: () => Store;
  readonly isDraining: () => boolean;
  /** The current time in UTC epoch seconds. */
  readonly now: () => number;
  /** Days for which former versions of records are kept. */
  readonly versionDays: number;
  /** The least id of an import that began in the last 24 hours. */
  readonly firstImportId: () => string;
  /** Bytes of the disk of the data directory; rejects if it cannot be read. */
  readonly diskSpace: () => Promise<{ readonly free: number; readonly total: number }>;
  readonly listKeys: () => Promise<readonly MeasuredKey[]>;
  /** When the certificate of each listener that uses TLS expires, in UTC epoch seconds. */
  readonly certificateExpiries: () => readonly (readonly [listener: string, expiresAt: number])[];
}

/** A key: since when it is used, and when it is rotated, in UTC epoch seconds. */
interface MeasuredKey {
  readonly purpose: string;
  readonly state: string;
  readonly activatesAt: number;
  readonly rotationDueAt: number | null;
}

/** PostgreSQL looks at each file of the database, some thousand of them in a large one. */
const sizeMaxAgeMs = 300_000;
/** The statement reads a row of each import of the last day. */
const importsMaxAgeMs = 60_000;

/** Adds the metrics of the store, its disk, keys and certificates; all processes read the same. */
export function addStoreMetrics(registry: Registry, measured: MeasuredStore): void {
  const { gauge } = readMetricsOf(registry);
  const { version, open, isDraining, diskSpace, certificateExpiries } = measured;
  gauge('subreport_build_info', 'Always 1; the label is the version of subreport', () => [[{ version }, 1]], {
    labels: ['version'],
  });
  gauge(
    'subreport_ready',
    '1 if reports can be served, as /readyz says; 0 if any process cannot serve them',
    async () => {
      if (isDraining()) return 0;
      const failure = await open()
        .checkReady()
        .catch(() => 'not ready');
      return Number(failure === undefined);
    },
    { aggregator: 'min' },
  );
  gauge(
    'subreport_change_mark_age_seconds',
    'Time since a process last knew all changes and revocations of other processes; 0 with SQLite or a pooler',
    () => open().changeMarkAgeMs() / 1000,
  );
  gauge(
    'subreport_disk_bytes',
    'Space of the disk of the data directory: free or total',
    async () => Object.entries(await diskSpace()).map(([space, bytes]) => [{ space }, bytes]),
    { labels: ['space'] },
  );
  gauge(
    'subreport_certificate_expiry_timestamp_seconds',
    'When the certificate that a listener uses expires, as a Unix time; absent without TLS',
    () => certificateExpiries().map(([listener, expiresAt]) => [{ listener }, expiresAt]),
    { labels: ['listener'], aggregator: 'min' },
  );
  addSizeMetrics(registry, measured);
  addKeyMetrics(registry, measured);
  addImportMetrics(registry, measured);
  addLastMetrics(registry, measured);
}

function addSizeMetrics(registry: Registry, { open, now, versionDays: days }: MeasuredStore): void {
  const { gauge } = readMetricsOf(registry);
  // one after another: a scrape must not wait for a second connection
  const readRarely = createSampler(
    async () => ({
      parts: await open().readSize(),
      // they ask each node of a cluster: without one of them, the size is still known
      use: await readHistoryUse(open(), { nowSeconds: now(), days }).catch(() => undefined),
    }),
    sizeMaxAgeMs,
  );
  const readUse = async () => (await readRarely())?.use;
  gauge(
    'subreport_store_bytes',
    'Size of the store on disk by part, at most five minutes old; the write-ahead log only with SQLite',
    async () => (await readRarely())?.parts.map(({ part, bytes }) => [{ part }, bytes]),
    { labels: ['part'] },
  );
  gauge(
    'subreport_history_versions',
    'Former versions of records in the history, at most five minutes old',
    async () => (await readUse())?.versions,
  );
  gauge(
    'subreport_history_sweeps_due',
    'Tenants that have versions older than HISTORY_DAYS to remove, at most five minutes old',
    async () => (await readUse())?.sweepsDue,
  );
  gauge(
    'subreport_history_ahead_seconds',
    'By how much the last commit of a tenant is later than the clock, the most of all tenants, at most five minutes old',
    async () => (await readUse())?.aheadSeconds,
  );
  gauge(
    'subreport_storage_budget_ratio',
    'Share of its storage budget that the fullest tenant uses; at most five minutes old; absent without a budget',
    async () => {
      const [use, { tenantBytesMax }] = [await readUse(), open()];
      return use === undefined || tenantBytesMax === 0 ? undefined : use.mostBytes / tenantBytesMax;
    },
  );
}

function addKeyMetrics(registry: Registry, { listKeys }: MeasuredStore): void {
  const { gauge } = readMetricsOf(registry);
  const listCurrent = async () => (await listKeys()).filter(({ state }) => state === 'current');
  gauge(
    'subreport_key_age_seconds',
    'Time for which the current key of each purpose has been in use',
    async () =>
      (await listCurrent()).map(({ purpose, activatesAt }) => [
        { purpose },
        Math.max(0, Date.now() / 1000 - activatesAt),
      ]),
    { labels: ['purpose'] },
  );
  gauge(
    'subreport_key_rotation_due_timestamp_seconds',
    'When the current key of each purpose is rotated, as a Unix time; absent if KEY_ROTATION_DAYS is 0',
    async () =>
      (await listCurrent()).flatMap(({ purpose, rotationDueAt: dueAt }) =>
        dueAt === null ? [] : [[{ purpose }, dueAt]],
      ),
    { labels: ['purpose'] },
  );
}

function addImportMetrics(registry: Registry, { open, firstImportId }: MeasuredStore): void {
  const { gauge } = readMetricsOf(registry);
  const readImports = createSampler(() => countImports(open(), firstImportId()), importsMaxAgeMs);
  const labels = ['via', 'result'];
  const none = (results: readonly string[]) => results.map((result) => [{ via: 'http', result }, 0] as const);
  gauge(
    'subreport_imports_last_day',
    'Imports without dry runs that began in the last 24 hours, by how they were started and how they ended',
    async () => {
      const totals = (await readImports())?.map(({ via, result, imports }) => [{ via, result }, imports] as const);
      return totals && [...none(['ok', 'failed']), ...totals];
    },
    { labels },
  );
  gauge(
    'subreport_import_rows_last_day',
    'Rows of imports that began in the last 24 hours',
    async () => {
      const totals = (await readImports())?.flatMap(({ via, accepted, rejected }) => [
        [{ via, result: 'accepted' }, accepted] as const,
        [{ via, result: 'rejected' }, rejected] as const,
      ]);
      return totals && [...none(['accepted', 'rejected']), ...totals];
    },
    { labels },
  );
}

/** The ends of the last checks, imports and backups, by any process. */
function addLastMetrics(registry: Registry, { open, now }: MeasuredStore): void {
  const { gauge } = readMetricsOf(registry);
  gauge(
    'subreport_doctor_problems',
    'Failed checks of the last check of the store; 0 if there was none',
    async () => (await findDoctorResult(open()))?.problems ?? 0,
  );
  gauge(
    'subreport_doctor_last_run_timestamp_seconds',
    'When the store was last checked, as a Unix time; 0 if it never was',
    async () => (await findDoctorResult(open()))?.finishedAt ?? 0,
  );
  gauge(
    'subreport_import_last_success_timestamp_seconds',
    'When an import, by a command or over HTTP, last ended without a rejected row, as a Unix time; 0 if none has',
    async () => (await readLastGoodImport(open())) ?? 0,
  );
  gauge(
    'subreport_backup_last_success_timestamp_seconds',
    'When a backup last ended, as a Unix time; 0 if there was none',
    async () => (await findLastBackup(open())) ?? 0,
  );
  gauge(
    'subreport_tenants',
    'Tenants by the time since their last import without a rejected row',
    async () =>
      Object.entries(await countTenantsByImport(open(), now())).map(([age, count]) => [{ last_import: age }, count]),
    { labels: ['last_import'] },
  );
}

/**
 * Makes the function that returns a value as last read, and reads it again once it is older than
 * `maxAgeMs`. If that fails, it returns the older value; `subreport_ready` reports the store.
 */
function createSampler<T>(read: () => Promise<T>, maxAgeMs: number): () => Promise<T | undefined> {
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
