import type { Command } from 'commander';
import { CommandError, UsageError } from '../../terminal/error.ts';
import { countText, type Output, writeResult } from '../../terminal/output.ts';
import { createProgressBar } from '../../terminal/progress-bar.ts';
import { forUser, runReader } from '../../terminal/reader-action.ts';
import { destinationNamed, destinations } from '../sync/destinations.ts';
import type { Source, SyncResult } from '../sync/run-sync.ts';
import { openScreen } from './record-writer.ts';
import { addCopyOptions, type CopyOptions, openPlace, sourceOf, withSyncErrors } from './sync-options.ts';
import { addCheckCommand, addStatusCommand } from './sync-status-command.ts';

interface SyncOptions extends CopyOptions {
  readonly scheduledFor?: string;
}

export function addSyncCommand(program: Command, output: Output): void {
  const group = program
    .command('sync')
    .description('keep a copy of the report in step with it, verify that it is equal, or tell a webhook what changes')
    .addHelpText('after', "\n'subreport sync --to …' is 'subreport sync run --to …'.");
  const command = group
    .command('run', { isDefault: true })
    .argument('[command]') // one that does not exist
    .usage('[options]')
    .description('bring a copy in step with the report: sync without a subcommand');
  addCopyOptions(command)
    .addHelpText(
      'after',
      `
The first sync reads the whole report, each further one what has changed. Records and position are written in one
transaction, and only if the copy has as many records as the report at the same revision.

In files, each run writes the whole report to a new file below the instant of the run, and last its manifest. A file
without a manifest is not complete.

${destinations.flatMap(({ note = [] }) => note).join('\n')}

Examples:
${destinations.flatMap(({ examples }) => examples.map((example) => `  subreport sync ${example}`)).join('\n')}`,
    )
    .action((_unknown: string, options: SyncOptions) =>
      runReader((signal) => withSyncErrors(() => syncWithRetries(options, output, signal))),
    );
  addVerifyCommand(group, output);
  addStatusCommand(group, output);
  addCheckCommand(group, output);
}

/** Runs a sync, and retries it after temporary failures. */
async function syncWithRetries(options: SyncOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { retryRun } = await import('../sync/retry-run.ts');
  const scheduledFor = readInstant(options.scheduledFor); // the same for each try
  const onWait = (error: unknown, waitMs: number): void => {
    const seconds = countText(Math.ceil(waitMs / 1_000));
    if (options.quiet !== true)
      output.stderr.write(`${(forUser(error) as Error).message}\nThe sync is retried in ${seconds} s\n`);
  };
  // what was written to standard output cannot be taken back
  const limitMs = destinationNamed(options.to).mode === 'stream' ? 0 : options.retrySeconds * 1_000;
  await retryRun(() => sync(options, scheduledFor, output, signal), { limitMs, signal, onWait });
}

async function sync(options: SyncOptions, scheduledFor: Date, output: Output, signal: AbortSignal): Promise<void> {
  const { mode } = destinationNamed(options.to);
  if (mode === 'webhook') return tellWebhook(options, output, signal);
  const source = sourceOf(options);
  if (mode === 'files') return syncFile(source, options, scheduledFor, output, signal);
  const isStream = mode === 'stream';
  const { openDestination } = await import('../sync/open-destination.ts');
  const { runSync } = await import('../sync/run-sync.ts');
  const screen = openScreen(options, output);
  const destination = await openDestination(options, screen.write);
  const bar = createProgressBar(screen.isQuiet || isStream ? { ...output, stderr: silent } : output, undefined);
  const result = await runSync(source, destination, {
    signal,
    onProgress: (written) => bar.update(0, written),
  }).finally(bar.end);
  if (isStream) screen.remark(streamSentence(result));
  else if (screen.isQuiet && options.json !== true) return;
  else writeResult(output, options.json === true, jsonOf(result), tableSentence(result));
}

async function tellWebhook(options: SyncOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { readWebhook } = await import('../sync/webhook-options.ts');
  const { runWebhook } = await import('../sync/run-webhook.ts');
  const webhook = readWebhook(options);
  const { delivered, revision, isFirst } = await runWebhook(sourceOf(options), webhook, { signal });
  if (options.quiet === true && options.json !== true) return;
  const sentence = isFirst
    ? `The webhook begins with the changes after revision ${revision}`
    : `${countText(delivered)} events delivered, up to revision ${revision}`;
  writeResult(output, options.json === true, { delivered, revision, first: isFirst }, sentence);
}

/** Writes the report to a new file. */
async function syncFile(
  source: Source,
  options: SyncOptions,
  scheduledFor: Date,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { runSnapshot } = await import('../sync/run-snapshot.ts');
  const run = { format: options.format, scheduledFor, signal };
  const result = await runSnapshot(source, await openPlace(options, output, signal), run);
  if (options.quiet === true && options.json !== true) return;
  const { manifest, place, wasComplete, unread } = result;
  if (unread !== undefined && options.json !== true) output.stderr.write(`${unread}\n`);
  const sentence = `${tableSentence({ rows: manifest.rows, revision: manifest.report.revision })} in ${place}`;
  const done = `The run for ${manifest.scheduled_for} was complete before: nothing was written`;
  writeResult(
    output,
    options.json === true,
    { place, was_complete: wasComplete, unread, ...manifest },
    wasComplete ? `${done}\n${sentence}` : sentence,
  );
}

/** The instant of a run, in whole seconds. */
function readInstant(given: string | undefined): Date {
  const instant = given === undefined ? new Date() : new Date(given);
  if (!Number.isNaN(instant.getTime()) && (given === undefined || /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(given)))
    return new Date(Math.floor(instant.getTime() / 1000) * 1000);
  throw new UsageError(
    `Cannot use --scheduled-for: it must be an ISO 8601 date-time with Z or an offset, such as 2026-11-23T03:00:00Z: current value is '${given}'`,
  );
}

const silent = { write: () => true };

const streamSentence = ({ written, removed, revision }: SyncResult): string =>
  `${countText(written)} records and ${countText(removed)} removals, up to revision ${revision}`;

const tableSentence = ({ rows = 0, revision }: Pick<SyncResult, 'rows' | 'revision'>): string => {
  const count = `${countText(rows)} rows`;
  return `copy ${count} = report ${count} at revision ${revision}`;
};

const jsonOf = ({ rows, revision, syncedAt, written, removed, reloaded }: SyncResult) => ({
  rows,
  revision,
  synced_at: syncedAt,
  written,
  removed,
  reloaded,
});

function addVerifyCommand(sync: Command, output: Output): void {
  const command = sync
    .command('verify')
    .description('compare a copy with the report at its revision, byte by byte, by the SHA-256 of the export');
  addCopyOptions(command, ['table', 'files'])
    .addHelpText('after', '\nExample:\n  subreport sync verify --to sqlite:copy.db')
    .action((options: CopyOptions) => runReader((signal) => withSyncErrors(() => verify(options, output, signal))));
}

async function verify(options: CopyOptions, output: Output, signal: AbortSignal): Promise<void> {
  if (destinationNamed(options.to).mode === 'files') return verifyFile(options, output, signal);
  const { openCopy } = await import('../sync/open-destination.ts');
  const source = sourceOf(options);
  const { verifyCopy } = await import('../sync/verify-copy.ts');
  const copy = await openCopy(options);
  const {
    revision,
    copy: found,
    report,
    isEqual,
  } = await verifyCopy(source, copy, { signal }).finally(() => copy.close());
  const describe = ({ rows, sha256 }: typeof found) => `${countText(rows)} rows with SHA-256 ${sha256}`;
  if (!isEqual)
    throw new CommandError(
      `Cannot confirm the copy: it must equal the report at revision ${revision}, ${describe(report)}; 'subreport sync --reload' repairs it: current value is ${describe(found)}`,
    );
  const sentence = `The copy equals the report at revision ${revision}: ${describe(found)}`;
  if (options.quiet !== true || options.json === true)
    writeResult(output, options.json === true, { revision, ...found }, sentence);
}

/** Compares the newest file with its manifest, without the service. */
async function verifyFile(options: CopyOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { verifySnapshot } = await import('../sync/run-snapshot.ts');
  const { manifest, place, found, isEqual } = await verifySnapshot(await openPlace(options, output, signal));
  const describe = ({ bytes, sha256 }: typeof found) => `${countText(bytes)} bytes with SHA-256 ${sha256}`;
  if (!isEqual)
    throw new CommandError(
      `Cannot confirm ${place}: it must be the file of its manifest, ${describe(manifest)}; 'subreport sync' writes a new one: current value is ${describe(found)}`,
    );
  const sentence = `The file equals its manifest, of revision ${manifest.report.revision}: ${describe(found)} in ${place}`;
  if (options.quiet !== true || options.json === true)
    writeResult(output, options.json === true, { place, ...manifest }, sentence);
}
