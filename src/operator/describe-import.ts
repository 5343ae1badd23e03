import { formatInstant } from '../contract/instant.ts';
import { outcomeOf } from '../contract/load.ts';
import type { Import, LastImport } from '../contract/operator/import.ts';
import type { ImportRow, LastImportRow } from '../storage/tables/import-history.ts';
import { timeOf } from './time-of.ts';

/** An import as the API and the commands show it. */
export const describeImport = (row: ImportRow): Import => ({
  id: row.id,
  tenant: row.tenant,
  started_at: formatInstant(row.startedAt),
  ended_at: timeOf(row.endedAt),
  actor: { kind: row.actorKind as Import['actor']['kind'], id: row.actorId, name: row.actorName },
  address: row.address,
  via: row.via as Import['via'],
  format: row.format as Import['format'],
  options: row.options as Import['options'],
  result: row.result,
  outcome: importOutcomeOf({ ...row, ...row.counts, dryRun: row.options.includes('dry-run') }),
  error: row.error,
  read: row.counts?.read ?? null,
  accepted: row.counts === null ? null : row.counts.read - row.counts.rejected,
  rejected: row.counts?.rejected ?? null,
  inserted: row.counts?.inserted ?? null,
  updated: row.counts?.updated ?? null,
  unchanged: row.counts?.unchanged ?? null,
  removed: row.counts?.removed ?? null,
  revision: row.revision,
});

/** An import in short. A tenant's last import is no dry run. */
export const describeLastImport = (row: LastImportRow): LastImport => ({
  id: row.id,
  started_at: formatInstant(row.startedAt),
  ended_at: timeOf(row.endedAt),
  result: row.result,
  outcome: importOutcomeOf({ ...row, dryRun: false }),
  rejected: row.rejected,
});

interface StoredOutcome extends Pick<ImportRow, 'result'> {
  readonly read?: number | null;
  readonly rejected?: number | null;
  readonly dryRun: boolean;
}

const importOutcomeOf = ({ result, read, rejected, dryRun }: StoredOutcome): Import['outcome'] =>
  result === 'ok' ? outcomeOf({ read: read ?? 0, rejected: rejected ?? 0, dryRun }) : result;
