import type { Command } from 'commander';
import type { Position } from '../../sync/destination.ts';
import type { Source } from '../../sync/run-sync.ts';
import { CommandError } from '../error.ts';
import { countText, type Output, writeResult } from '../output.ts';
import { allVariables } from './environment.ts';
import { runReader } from './reader-action.ts';
import { addCopyOptions, type CopyOptions, requireDestination, sourceOf, withSyncErrors } from './sync-options.ts';

interface StatusOptions extends CopyOptions {
  readonly state?: string;
}

export function addStatusCommand(sync: Command, output: Output): void {
  const command = sync
    .command('status')
    .argument('[file]', 'file of sync run: show the last runs of its entries, and fail if one failed')
    .description(
      'show the revision of a copy, its age and the revision of the report; for a webhook, also what is pending',
    );
  addCopyOptions(
    command,
    'sqlite:FILE, postgres://USER@HOST/DATABASE, dir:PATH, s3://BUCKET/PREFIX, sftp://USER@HOST/PATH or webhook:URL',
  )
    .option('--state <file>', 'the state of a webhook')
    .addHelpText('after', '\nExamples:\n  subreport sync status --to sqlite:copy.db\n  subreport sync status sync.yaml')
    .action((file: string | undefined, options: StatusOptions) =>
      runReader((signal) =>
        withSyncErrors(async () => {
          if (file === undefined) return showStatus(options, output, signal);
          const { showFileStatus } = await import('./sync-file-command.ts');
          return showFileStatus(file, options, output);
        }),
      ),
    )
    .hook('preAction', requireDestination);
}

export function addCheckCommand(sync: Command, output: Output): void {
  const command = sync
    .command('check')
    .argument('[file]', 'file of sync run: try all of its entries')
    .description('try the source and the destination, and write nothing');
  addCopyOptions(command, 'as for sync run')
    .option('--format <format>', 'as for sync run')
    .option('--state <file>', 'as for sync run')
    .option('--expiring <durations>', 'as for sync run')
    .addHelpText('after', '\nExamples:\n  subreport sync check sync.yaml\n  subreport sync check --to sqlite:copy.db')
    .action((file: string | undefined, options: CopyOptions) =>
      runReader((signal) =>
        withSyncErrors(async () => {
          if (file === undefined) return check(options, output, signal);
          const { checkSyncFile } = await import('./sync-file-command.ts');
          return checkSyncFile(file, options, output, signal);
        }),
      ),
    )
    .hook('preAction', requireDestination);
}

async function check(options: CopyOptions, output: Output, signal: AbortSignal): Promise<void> {
  const source = sourceOf(options);
  await checkDestination(options, source);
  const { currentPosition } = await import('../../sync/read-source.ts');
  const { revision } = await currentPosition(source.client, { signal });
  if (options.quiet !== true || options.json === true)
    writeResult(output, options.json === true, { revision }, 'source and destination can be used');
}

async function checkDestination(options: CopyOptions, source: Source): Promise<void> {
  if (options.to.startsWith('webhook:')) {
    const { readWebhook } = await import('../../sync/webhook-options.ts');
    const { checkWebhook } = await import('../../sync/webhook-status.ts');
    return checkWebhook(readWebhook(options), source);
  }
  const { isFilePlace, openDestination, openFiles } = await import('../../sync/open-destination.ts');
  if (isFilePlace(options.to)) {
    const { checkPlace } = await import('../../sync/run-snapshot.ts');
    return checkPlace(source, await openFiles(options, allVariables()));
  }
  const destination = await openDestination(options, async () => undefined);
  try {
    const position = await destination.begin(source);
    // creates the table of the copy; nothing is committed
    if (position === undefined) await destination.resync({ token: '', revision: 0, rows: nothing, lines: nothing });
  } finally {
    await destination.close();
  }
}

async function* nothing(): AsyncGenerator<never, void, undefined> {}

async function showStatus(options: StatusOptions, output: Output, signal: AbortSignal): Promise<void> {
  const source = sourceOf(options);
  if (options.to.startsWith('webhook:')) return showWebhookStatus(source, options, output, signal);
  const position = await positionOf(options);
  if (position === undefined)
    throw new CommandError("Cannot show the status: there must be a copy: run 'subreport sync' first");
  const { rows = 0, revision, syncedAt } = position;
  const current = await currentRevision(source, revision, signal);
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(syncedAt)) / 1000));
  const lag = lagOf(revision, current);
  writeResult(
    output,
    options.json === true,
    { rows, revision, synced_at: syncedAt, age_seconds: seconds, report_revision: current },
    `${countText(rows)} rows at revision ${revision}, synced ${countText(seconds)} s ago: ${lag}`,
  );
}

/** The revision of the report; that of the copy if a process of the service is behind it. */
async function currentRevision({ client }: Source, least: number, signal: AbortSignal): Promise<number> {
  const { currentPosition } = await import('../../sync/read-source.ts');
  return Math.max((await currentPosition(client, { signal })).revision, least);
}

const lagOf = (revision: number, current: number): string =>
  current === revision ? 'in step with the report' : `the report is at revision ${current}`;

async function showWebhookStatus(
  source: Source,
  options: StatusOptions,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { webhookNamed } = await import('../../sync/webhook-options.ts');
  const { endpointGone, readWebhookStatus } = await import('../../sync/webhook-status.ts');
  const webhook = webhookNamed(options);
  const status = readWebhookStatus(webhook, source, Date.now());
  if (status === undefined)
    throw new CommandError("Cannot show the status: the webhook must have a state: run 'subreport sync' first");
  const { revision, pending, failures, lastResult, disabledAt } = status;
  const current = await currentRevision(source, revision, signal);
  const retryAt = pending === 0 || failures === 0 ? undefined : new Date(status.retryAt).toISOString();
  const tries = failures === 0 ? '' : `, ${failures} failed tries, the last with ${lastResult}, the next at ${retryAt}`;
  writeResult(
    output,
    options.json === true,
    { revision, report_revision: current, pending, failures, last_result: lastResult, retry_at: retryAt },
    `${countText(pending)} events pending${tries}; changes told up to revision ${revision}: ${lagOf(revision, current)}`,
  );
  if (disabledAt > 0) throw endpointGone(webhook.url, disabledAt);
}

/** The position of a copy, or of the newest file. */
async function positionOf(options: CopyOptions): Promise<Omit<Position, 'token'> | undefined> {
  const { isFilePlace, openCopy, openFiles } = await import('../../sync/open-destination.ts');
  if (!isFilePlace(options.to)) {
    const copy = await openCopy(options);
    return copy.position().finally(() => copy.close());
  }
  const { newestManifest } = await import('../../sync/manifest.ts');
  const files = await openFiles(options, allVariables());
  const newest = await newestManifest(files).finally(() => files.close());
  if (newest === undefined) return undefined;
  const { rows, report, completed_at } = newest.manifest;
  return { rows, revision: report.revision, syncedAt: completed_at };
}
