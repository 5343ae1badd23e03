import { formatInstant } from '../contract/instant.ts';
import type { ImportRow } from '../storage/tables/import-history.ts';

/** An import as the API and `--json` show it. */
export const showImport = (row: ImportRow) => ({
  id: row.id,
  tenant: row.tenant,
  started_at: formatInstant(row.startedAt),
  ended_at: row.endedAt === null ? null : formatInstant(row.endedAt),
  actor: showActor(row),
  via: row.via,
  format: row.format,
  options: row.options,
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

/** An import in JSON. */
export type ShownImport = ReturnType<typeof showImport>;

function showActor({ actorKind: kind, actorId: id, actorName: name, address }: ImportRow) {
  if (kind === 'command') return { kind, user: id };
  return kind === 'client' ? { kind, client_id: id, address } : { kind, id, name, address };
}
