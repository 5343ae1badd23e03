import { formatInstant } from '../contract/instant.ts';
import type { Import } from '../contract/operator-import.ts';
import type { ImportRow } from '../storage/tables/import-history.ts';
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
