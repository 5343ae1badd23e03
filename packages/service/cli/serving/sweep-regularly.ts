import type { Logger } from 'pino';
import { sweepImports } from '../../import/sweep-imports.ts';
import type { Store } from '../../storage/store.ts';
import { sweepAuditEntries } from '../../storage/tables/audit-entry.ts';
import { sweepTombstones } from '../../storage/tables/history.ts';
import { deleteDeadFamilies } from '../../storage/tables/refresh-family.ts';
import { deleteEndedOperatorSessions } from '../../storage/tables/session.ts';
import { sweepVersions, versionDays } from '../../storage/tables/sweep-versions.ts';
import type { Config } from '../config.ts';

const sweepEveryMs = 600_000;
const daySeconds = 86_400;
/** Days for which the list of imports is kept; what was imported is in the audit log for longer. */
const importDays = 90;

type SweepSettings = Pick<Config, 'TOMBSTONE_DAYS' | 'HISTORY_DAYS' | 'AUDIT_RETENTION_DAYS'>;

/** Deletes expired data now and periodically. After an error, the next run tries again. */
export function sweepRegularly(store: Store, config: SweepSettings, logger: Logger): void {
  const onFailure = (error: unknown, left: string) => logger.warn({ err: error }, `${left} stay until the next sweep`);
  const sweep = async () => {
    await sweepStore(store, config, Date.now(), onFailure);
    // not beside one that still waits for a node that hangs
    setTimeout(() => void sweep(), sweepEveryMs).unref();
  };
  void sweep();
}

/** Deletes what has expired at a time; `onFailure` receives the error and what is left. */
export async function sweepStore(
  store: Store,
  settings: SweepSettings,
  nowMs: number,
  onFailure: (error: unknown, left: string) => void,
): Promise<void> {
  const { TOMBSTONE_DAYS: days, AUDIT_RETENTION_DAYS: auditDays } = settings;
  const nowSeconds = Math.floor(nowMs / 1000);
  const versions = { nowSeconds, days: versionDays(settings), forgetsDays: days === 0 };
  const attempt = (sweep: Promise<unknown>, left: string) => sweep.catch((error: unknown) => onFailure(error, left));
  await attempt(deleteDeadFamilies(store, nowSeconds), 'dead refresh families');
  await attempt(deleteEndedOperatorSessions(store, nowSeconds), 'ended sessions of operators');
  await attempt(sweepAuditEntries(store, nowSeconds - auditDays * daySeconds), 'expired audit entries');
  // before the tombstones: their sweep removes the days by which both compute ages
  await attempt(sweepVersions(store, versions), 'old versions of records');
  if (days > 0) await attempt(sweepTombstones(store, { nowSeconds, days }), 'old tombstones');
  await attempt(sweepImports(store, { nowMs, days: importDays }), 'old imports');
}
