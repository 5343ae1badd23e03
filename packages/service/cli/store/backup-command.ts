import { existsSync, linkSync, realpathSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandError, UsageError, writeFailure } from '../../../terminal/error.ts';
import { counted, type Output, writeResult } from '../../../terminal/output.ts';
import { createProgressBar } from '../../../terminal/progress-bar.ts';
import { perform } from '../../operator/perform.ts';
import { copyStore } from '../../storage/backup/postgres-backup.ts';
import { sealStore, syncFile } from '../../storage/backup/sqlite-backup.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import { type Config, readConfig } from '../config.ts';
import { recordStoreAction, recordStoreStart, withOperator } from './command-context.ts';
import { requireHealthy, type StoreCounts, withStagedStore } from './staged-store.ts';
import { requireStore } from './store-session.ts';

interface BackupOptions {
  readonly force?: boolean;
  readonly record?: boolean;
  readonly json?: boolean;
}

interface BackupResult extends StoreCounts {
  readonly file: string;
  readonly bytes: number;
  readonly seconds: number;
}

export function addBackupCommand(program: Command, output: Output): void {
  program
    .command('backup')
    .description(
      'write a consistent snapshot of the database to a file and check it; safe while the service and imports are running',
    )
    .argument('[file]', 'the file to create (mode 0600), outside of the data directory')
    .option('--force', 'replace an existing file, after the new one is complete and checked')
    .option(
      '--record',
      'only record in the audit log that another tool, or a role that may only read, has made a backup',
    )
    .option('--json', 'print {"file","bytes","tenants","records","seconds"}; with --record, {"recorded_at"}')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport backup /backups/subreport-monday.db\n  subreport backup /backups/subreport.db --force --json\n  pgbackrest --stanza=subreport backup && subreport backup --record\n\nThe file contains hashed secrets and signing keys: protect it like the database.',
    )
    .action(async (file: string | undefined, { force = false, record = false, json = false }: BackupOptions) => {
      const config = readConfig();
      if (record !== (file === undefined))
        throw new UsageError(
          "Cannot back up the database: either a file or --record must be given, such as 'subreport backup /backups/subreport.db'",
        );
      if (file === undefined) {
        const recordedAt = nowSeconds();
        await withOperator(config, (context) =>
          perform(context, { name: 'store.backup', target: {}, details: {} }, async () => undefined),
        );
        writeResult(output, json, { recorded_at: recordedAt }, 'The backup was recorded in the audit log.');
        return;
      }
      const result = await writeBackup(config, resolve(file), force, output);
      const { bytes, tenants, records, seconds } = result;
      await recordStoreAction(config, output, 'store.backup', { tenants, records, bytes });
      writeResult(
        output,
        json,
        result,
        `Backup ${result.file}: ${counted(tenants, 'tenant')}, ${counted(records, 'record')}, ${counted(bytes, 'byte')}, checked, in ${seconds.toFixed(1)} s.`,
      );
    });
}

async function writeBackup(config: Config, file: string, force: boolean, output: Output): Promise<BackupResult> {
  const started = performance.now();
  requirePlace(config, file, force);
  requireStore(config);
  await recordStoreStart(config, output, 'store.backup');
  return withStagedStore(`${file}.partial`, async (staged) => {
    const bar = createProgressBar(output);
    await copyStore(
      { databaseUrl: config.DATABASE_URL, dataDir: config.DATA_DIR },
      staged.folder,
      ({ bytes, totalBytes }) => bar.updateBytes(bytes, totalBytes),
    ).finally(() => bar.end());
    const counts = await staged.withStore((store) =>
      requireHealthy(
        store,
        'Cannot back up the database',
        "Nothing was written; repair the database with 'subreport doctor --repair', or restore an older backup",
      ),
    );
    sealStore(staged.file);
    const { size: bytes } = statSync(staged.file);
    publish(staged.file, file, force);
    return { file, bytes, ...counts, seconds: Math.round(performance.now() - started) / 1000 };
  });
}

/**
 * Throws `CommandError` unless a backup may be written there; checked before the store is copied.
 */
function requirePlace({ DATA_DIR }: Config, file: string, force: boolean): void {
  const folder = dirname(file);
  if (!existsSync(folder)) throw writeFailure(file, { code: 'ENOENT' });
  if (existsSync(DATA_DIR) && realpathSync(folder) === realpathSync(DATA_DIR)) {
    throw new CommandError(
      `Cannot write the backup: it must be outside of the data directory, preferably on another disk: current value is '${file}'`,
    );
  }
  if (!force && existsSync(file)) throw fileExists(file);
}

/** Gives the complete file its name atomically. */
function publish(staged: string, file: string, force: boolean): void {
  if (force) renameSync(staged, file);
  else {
    try {
      linkSync(staged, file); // fails if another process has created the file in the meantime
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST' || existsSync(file)) throw fileExists(file);
      renameSync(staged, file); // the file system has no hard links
    }
  }
  syncFile(dirname(file));
}

const fileExists = (file: string): CommandError =>
  new CommandError(
    `Cannot write the backup: the file must not exist, unless --force is given: current value is '${file}'`,
  );
