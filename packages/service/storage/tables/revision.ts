import type { Row } from '../store.ts';

/** Reads what the next revision of a tenant continues. */
export const selectRevision =
  'select revision, history_from, history_from_at, history_revision, history_at, charged_bytes from tenant where id = $1';

/**
 * The time of a commit in UTC epoch seconds, by the clock of this process, read under the lock of
 * the tenant.
 */
export const clockNow = (): number => Math.floor(Date.now() / 1000);

/** Whether the tenant's last revision is part of its history. */
export const isHistoryKept = ({ revision, history_revision: kept = null }: Row): boolean =>
  kept !== null && Number(kept) === Number(revision);
