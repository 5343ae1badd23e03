import type { StoreOptions } from '../open-store.ts';
import { copyPostgresStore } from './postgres-backup.ts';
import { copySqliteStore, type OnCopied } from './sqlite-backup.ts';

/**
 * Copies the store that the settings choose, as it is at one moment, into an embedded store in an
 * empty folder.
 */
export function copyStore(
  { databaseUrl, dataDir }: Pick<StoreOptions, 'databaseUrl' | 'dataDir'>,
  target: string,
  onCopied: OnCopied,
): Promise<void> {
  return databaseUrl === undefined
    ? copySqliteStore(dataDir, target, onCopied)
    : copyPostgresStore(databaseUrl, target, onCopied);
}
