import type { Row } from '../store.ts';

/** What the next revision of a tenant continues. */
export const revisionColumns =
  'revision, history_from, history_from_at, history_revision, history_at, charged_bytes' as const;

export const selectRevision = `select ${revisionColumns} from tenant where id = $1`;

/** Whether the tenant's last revision is part of its history. */
export const isHistoryKept = ({ revision, history_revision: kept = null }: Row): boolean =>
  kept !== null && Number(kept) === Number(revision);
