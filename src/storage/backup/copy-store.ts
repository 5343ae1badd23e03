import type { StoreOptions } from '../open-store.ts';
import { copyPostgresStore } from './postgres-backup.ts';
import { copySqliteStore, type OnCopied } from './sqlite-backup.ts';

/** Copies one snapshot of the configured store into an embedded store in an empty folder. */
export function copyStore(
  { databaseUrl, dataDir }: Pick<StoreOptions, 'databaseUrl' | 'dataDir'>,
  target: string,
  onCopied: OnCopied,
): Promise<void> {
  return databaseUrl === undefined
    ? copySqliteStore(dataDir, target, onCopied)
    : copyPostgresStore(databaseUrl, target, onCopied);
}
