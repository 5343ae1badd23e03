import { StorageError } from './error.ts';
import type { RemovalGuard, StagedCounts } from './store.ts';

/** Fewest removed records that must be confirmed, unless they are all records. */
const guardedMin = 20;

/**
 * Throws `StorageError` `REMOVES_MANY` if a replacement removes all records of a tenant, or more
 * than half and at least 20 of them, and the guard does not confirm their number: the source may
 * lack most of its rows.
 */
export function guardRemoval({ updated, unchanged, removed }: StagedCounts, { confirmed }: RemovalGuard): void {
  const stored = updated + unchanged + removed;
  const isMany = removed > 0 && (removed === stored || (removed >= guardedMin && 2 * removed > stored));
  if (!isMany || confirmed === removed) return;
  throw new StorageError(
    'REMOVES_MANY',
    `Cannot replace the records: removing ${removed} of ${stored} must be confirmed by --remove ${removed}, or remove=${removed} over HTTP: current value is ${confirmed ?? 'none'}`,
  );
}
