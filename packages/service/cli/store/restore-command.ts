import { accessSync, constants, copyFileSync, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandError, readFailure, UsageError } from '../../../terminal/error.ts';
import { counted, type Output, writeResult } from '../../../terminal/output.ts';
import { createProgressBar } from '../../../terminal/progress-bar.ts';
import { fillPostgresStore } from '../../storage/backup/postgres-restore.ts';
import { replaceStore, requireStoreFile, settleStore } from '../../storage/backup/sqlite-restore.ts';
import { StorageError } from '../../storage/error.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import { openStore } from '../../storage/open-store.ts';
import { prepareFolder } from '../../storage/sqlite/folder.ts';
import { lockExclusive, type UseLock } from '../../storage/sqlite/locks.ts';
import type { Store } from '../../storage/store.ts';
import { beginHistory } from '../../storage/tables/history.ts';
import { type Config, readConfig } from '../config.ts';
import { recordStoreAction } from './command-context.ts';
import { requireHealthy, type StagedStore, type StoreCounts, withStagedStore } from './staged-store.ts';
import { openReadyStore, requireStore } from './store-session.ts';

interface RestoreOptions {
  readonly yes?: boolean;
  readonly newHistory?: boolean;
  readonly json?: boolean;
}

export function addRestoreCommand(program: Command, output: Output): void {
  program
    .command('restore')
    .description(
      'replace the database with a backup while no other process uses it; clients of the change feed must read everything again',
    )
    .argument('[file]', "a file written by 'subreport backup'")
    .option('--yes', 'replace an existing database; the old SQLite file is kept next to the new one')
    .option(
      '--new-history',
      'instead of a file: start a new history after the database was restored by other means (pg_restore, a snapshot)',
    )
    .option('--json', 'print {"file","tenants","records","replaced"}')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport restore /backups/subreport-monday.db --yes\n  DATABASE_URL=postgres://subreport:secret@localhost/restored subreport restore /backups/subreport-monday.db\n  subreport restore --new-history',
    )
    .action(async (file: string | undefined, { yes = false, newHistory = false, json = false }: RestoreOptions) => {
      if ((file === undefined) === !newHistory)
        throw new UsageError('Cannot restore: either a file or --new-history must be given');
      const config = readConfig();
      if (file === undefined) {
        await renewHistory(config);
        await recordStoreAction(config, output, 'store.restore', {});
        writeResult(
          output,
          json,
          { new_history: true },
          'The database has a new history: clients of the change feed must read everything again.',
        );
        return;
      }
      const backup = resolve(file);
      const result = await (config.DATABASE_URL === undefined
        ? restoreFile(config, backup, yes)
        : restoreDatabase(config, backup, output));
      const { tenants, records, replaced } = result;
      await recordStoreAction(config, output, 'store.restore', { tenants, records });
      const kept =
        replaced === undefined ? '' : ` The replaced database is '${replaced}': delete it when you no longer need it.`;
      writeResult(
        output,
        json,
        result,
        `Restored ${counted(tenants, 'tenant')}, ${counted(records, 'record')} from ${file}.${kept}`,
      );
    });
}

interface RestoreResult extends StoreCounts {
  readonly file: string;
  /** Path of the replaced database, if there was one. */
  readonly replaced?: string;
}

async function restoreFile({ DATA_DIR }: Config, backup: string, yes: boolean): Promise<RestoreResult> {
  requireBackup(backup);
  const file = prepareFolder(DATA_DIR);
  const lock = lockStore(file);
  try {
    const isEmpty = statSync(file).size === 0;
    if (!isEmpty && !yes) {
      throw new UsageError(
        `Cannot restore: --yes must be given to replace an existing database: current value is '${file}'`,
      );
    }
    const newest = settleStore(file);
    return await withStagedStore(join(DATA_DIR, 'restoring'), async (staged) => {
      const restored = await stage(staged, backup, newest);
      const aside = isEmpty ? undefined : `${file}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
      replaceStore(file, staged.file, aside);
      return { file: backup, ...restored, ...(aside !== undefined && { replaced: aside }) };
    });
  } finally {
    lock.release();
  }
}

/**
 * Restores into an empty database only. Existing data is never removed, so `--yes` has no effect.
 */
async function restoreDatabase(config: Config, backup: string, output: Output): Promise<RestoreResult> {
  requireBackup(backup);
  const { DATABASE_URL: url = '', DATA_DIR } = config;
  prepareFolder(DATA_DIR);
  return withStagedStore(join(DATA_DIR, 'restoring'), async (staged) => {
    const restored = await stage(staged, backup, 0);
    const store = openStore({ databaseUrl: url, dataDir: DATA_DIR, poolSize: 1 });
    await store.migrate().finally(() => store.close());
    const bar = createProgressBar(output);
    await fillPostgresStore(url, staged.file, ({ bytes }) => bar.updateBytes(bytes)).finally(() => bar.end());
    return { file: backup, ...restored };
  });
}

/**
 * Copies a backup, checks and migrates the copy, and gives it a new history. Opening the copy sets
 * its mode.
 */
async function stage(staged: StagedStore, backup: string, newest: number): Promise<StoreCounts> {
  copyFileSync(backup, staged.file, constants.COPYFILE_FICLONE);
  try {
    requireStoreFile(staged.file);
    return await staged.withStore((store) => checkStaged(store, backup, newest));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new CommandError(
      `Cannot restore: the file must be a complete backup written by 'subreport backup': current value is '${backup}' (${reason}); nothing was changed, restore another backup`,
    );
  }
}

async function checkStaged(store: Store, backup: string, newest: number): Promise<StoreCounts> {
  await store.migrate();
  await beginHistory(store, nowSeconds(), newest);
  return requireHealthy(store, `Cannot restore '${backup}'`, 'Nothing was changed; restore another backup');
}

async function renewHistory(config: Config): Promise<void> {
  requireStore(config);
  if (config.DATABASE_URL === undefined) lockStore(prepareFolder(config.DATA_DIR)).release();
  const store = await openReadyStore(config);
  await beginHistory(store, nowSeconds()).finally(() => store.close());
}

/**
 * Throws `CommandError` or `UsageError` unless the file can be a backup; the copy is checked for
 * damage later.
 */
function requireBackup(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw readFailure(file, error);
  }
  const wal = `${file}-wal`;
  if (existsSync(wal) && statSync(wal).size > 0) {
    throw new CommandError(
      `Cannot restore: the file must be written by 'subreport backup', without '${wal}' next to it, as a copy of a database in use is incomplete: current value is '${file}'`,
    );
  }
}

/** Throws `CommandError` if another process uses the database. */
function lockStore(file: string): UseLock {
  const lock = lockExclusive(file);
  if (lock !== undefined) return lock;
  throw new CommandError(
    `Cannot restore: no other process may use the database '${file}': one does; stop the service and imports, then try again`,
  );
}
