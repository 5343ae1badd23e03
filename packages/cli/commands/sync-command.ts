import type { Command } from 'commander';
import { formatInstant, parseInstant } from '../../contract/instant.ts';
import { dateTimeRule } from '../../contract/schema.ts';
import { isServiceGiven } from '../../terminal/connection.ts';
import { CommandError, TemporaryError, UsageError } from '../../terminal/error.ts';
import { counted, countText, type Output } from '../../terminal/output.ts';
import { createProgressBar } from '../../terminal/progress-bar.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { destinationNamed, destinations, formsOf } from '../sync/destinations.ts';
import type { SnapshotResult } from '../sync/files/run-snapshot.ts';
import type { VerifiedFile } from '../sync/files/verify-files.ts';
import { isYetToCome, type Source } from '../sync/source/read-source.ts';
import type { SyncResult } from '../sync/table/run-sync.ts';
import { openScreen } from './record-writer.ts';
import {
  addCopyOptions,
  type CopyOptions,
  openPlace,
  sourceOf,
  withSyncErrors,
  writeUnlessQuiet,
} from './sync-options.ts';
import { addStatusCommand } from './sync-status-command.ts';

interface SyncOptions extends CopyOptions {
  readonly scheduledFor?: string;
}

interface VerifyOptions extends CopyOptions {
  readonly all?: boolean;
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
The first sync reads the whole report, each further one what has changed. Records and position are
written in one transaction, and only if the copy has as many records as the report at that revision.

In files, each run writes the whole report to a new file below the instant of the run, and last its
manifest. A file without a manifest is not complete.

${destinations.flatMap(({ note = [] }) => note).join('\n')}

Examples:
${destinations.flatMap(({ examples }) => examples.map((example) => `  subreport sync ${example}`)).join('\n')}`,
    )
    .action((_unknown: string, options: SyncOptions) =>
      runReader((signal) => withSyncErrors(() => sync(options, output, signal))),
    );
  addVerifyCommand(group, output);
  addStatusCommand(group, output);
}

async function sync(options: SyncOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { mode } = destinationNamed(options.to);
  if (mode === 'webhook') return tellWebhook(options, output, signal);
  const source = sourceOf(options);
  if (mode === 'files') return syncFile(source, options, output, signal);
  const isStream = mode === 'stream';
  const { openDestination } = await import('../sync/destinations.ts');
  const { runSync } = await import('../sync/table/run-sync.ts');
  const screen = openScreen(options, output);
  const destination = await openDestination(options, screen.write);
  const bar = createProgressBar(screen.isQuiet || isStream ? { ...output, stderr: silent } : output, undefined);
  const result = await runSync(source, destination, {
    signal,
    compare: options.reload === true,
    onProgress: (written) => bar.update(0, written),
  }).finally(bar.end);
  if (isStream) screen.remark(streamSentence(result));
  else writeUnlessQuiet(output, options, jsonOf(result), tableSentence(result));
}

async function tellWebhook(options: SyncOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { readWebhook } = await import('../sync/webhook/webhook-options.ts');
  const { runWebhook } = await import('../sync/webhook/run-webhook.ts');
  const webhook = readWebhook(options);
  const { delivered, pending, revision, isFirst } = await runWebhook(sourceOf(options), webhook, { signal });
  const waiting = pending === 0 ? '' : ` and ${countText(pending)} waiting for the next try`;
  const sentence = isFirst
    ? `The webhook begins with the changes after revision ${revision}`
    : `${counted(delivered, 'event')} delivered${waiting}, up to revision ${revision}`;
  writeUnlessQuiet(output, options, { delivered, pending, revision, first: isFirst }, sentence);
}

/** Writes the report to a new file. */
async function syncFile(source: Source, options: SyncOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { runSnapshot } = await import('../sync/files/run-snapshot.ts');
  const run = { format: options.format, scheduledFor: readInstant(options.scheduledFor), signal };
  const place = await openPlace(options, output, signal);
  const result = await runSnapshot(source, place, run);
  const { manifest, place: file, wasComplete, unread } = result;
  if (unread !== undefined && options.json !== true && options.quiet !== true) output.stderr.write(`${unread}\n`);
  const value = { place: file, was_complete: wasComplete, unread, ...manifest };
  writeUnlessQuiet(output, options, value, describeFile(result));
}

function describeFile({ manifest, place, wasComplete }: SnapshotResult): string {
  const { rows, scheduled_for: instant } = manifest;
  const sentence = `${tableSentence({ rows, revision: manifest.report.revision })} in ${place}`;
  return wasComplete ? `The run for ${instant} was complete before: nothing was written\n${sentence}` : sentence;
}

/** The instant of a run, in whole seconds. */
function readInstant(given = new Date().toISOString()): Date {
  const instant = parseInstant(given);
  const rule =
    instant === undefined ? `${dateTimeRule}, such as 2026-11-23T03:00:00Z` : 'an instant that is not yet to come';
  if (instant !== undefined && !isYetToCome(formatInstant(instant.seconds))) return new Date(instant.seconds * 1000);
  throw new UsageError(`Cannot use --scheduled-for: it must be ${rule}: current value is '${given}'`);
}

const silent = { write: () => true };

const streamSentence = ({ written, removed, revision }: SyncResult): string =>
  `${counted(written, 'record')} and ${counted(removed, 'removal')}, up to revision ${revision}`;

const tableSentence = ({ rows = 0, revision }: Pick<SyncResult, 'rows' | 'revision'>): string => {
  const count = counted(rows, 'row');
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
    .description('compare a copy with the report at its revision, record by record, and name what differs');
  addCopyOptions(command, ['table', 'files'])
    .option('--all', `all files, not only the newest (${formsOf(['files'])})`)
    .addHelpText(
      'after',
      `
Files are read again and compared with their manifests, and with the report if there is a profile.
Exit code 1: the copy differs; 75: it cannot be compared now.

Examples:
  subreport sync verify --to sqlite:copy.db
  subreport sync verify --to dir:/var/exports --all`,
    )
    .action((options: VerifyOptions) => runReader((signal) => withSyncErrors(() => verify(options, output, signal))));
}

async function verify(options: VerifyOptions, output: Output, signal: AbortSignal): Promise<void> {
  if (destinationNamed(options.to).mode === 'files') return verifyFile(options, output, signal);
  if (options.all === true)
    throw new UsageError(
      `Cannot use --all: --to must be ${formsOf(['files'])}, as a database has one copy: current value is ${options.to.replace(/:.*/s, ':…')}`,
    );
  const { openCopy } = await import('../sync/destinations.ts');
  const source = sourceOf(options);
  const { describeDifferences, verifyCopy } = await import('../sync/table/verify-copy.ts');
  const copy = await openCopy(options);
  const found = await verifyCopy(source, copy, { signal }).finally(() => copy.close());
  const { revision, copyRows: rows, reportRows, sha256 } = found;
  if (found.differences > 0)
    throw new CommandError(
      `Cannot confirm the copy: it must equal the report at revision ${revision}, ${countText(reportRows)} rows with SHA-256 ${sha256}; 'subreport sync --reload' repairs it: current value is ${countText(rows)} rows with ${describeDifferences(found)}`,
    );
  const sentence = `The copy equals the report at revision ${revision}: ${counted(rows, 'row')} with SHA-256 ${sha256}`;
  writeUnlessQuiet(output, options, { revision, rows, sha256 }, sentence);
}

/** Compares files with their manifests, and with the report if the command has a service. */
async function verifyFile(options: VerifyOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { verifyFiles } = await import('../sync/files/verify-files.ts');
  const source = isServiceGiven(options) ? sourceOf(options) : undefined;
  const place = await openPlace(options, output, signal);
  const { files, unfinished } = await verifyFiles(place, { source, all: options.all === true, signal });
  const wrong = files.filter(({ faultCount }) => faultCount > 0);
  const faults = wrong.map(describeFaults);
  if (faults.length > 0) throw new CommandError(faults.join('\n'));
  const [newest] = files;
  if (newest === undefined) return;
  if (unfinished.length > 0)
    throw new TemporaryError(
      `Cannot confirm ${place.shown}: each folder must have a manifest: a run is writing there or was killed, or the manifest is gone; 'subreport sync' writes a new file: current value is ${unfinished.join(', ')} without one; the newest file is of ${newest.manifest.scheduled_for}`,
    );
  // without a service, its sentence says that the report was not compared
  if (source !== undefined && newest.notCompared !== undefined) throw new TemporaryError(newest.notCompared);
  const values = files.map(({ manifest, place: file, notCompared }) => ({
    place: file,
    ...manifest,
    compared_with: notCompared === undefined ? 'report' : 'manifest',
  }));
  const value = options.all === true ? { files: values } : values[0];
  writeUnlessQuiet(output, options, value, files.map(describeVerified).join('\n'));
}

function describeFaults({ place, manifest, faults, faultCount }: VerifiedFile): string {
  const more = faultCount > faults.length ? [`and ${countText(faultCount - faults.length)} more`] : [];
  const lines = [...faults, ...more].map((fault) => `\n  ${fault}`).join('');
  return `Cannot confirm ${place}: it must be the file of its manifest, with the report at revision ${manifest.report.revision}; 'subreport sync' writes a new one: current value is ${counted(faultCount, 'fault')}${lines}`;
}

function describeVerified({ place, manifest, notCompared }: VerifiedFile, index: number): string {
  const { scheduled_for: instant, rows, bytes, sha256, report } = manifest;
  const what = `The ${index === 0 ? 'newest ' : ''}file, of ${instant},`;
  const has = `${counted(rows, 'row')}, ${countText(bytes)} bytes with SHA-256 ${sha256} in ${place}`;
  return notCompared === undefined
    ? `${what} equals its manifest and the report at revision ${report.revision}: ${has}`
    : `${what} equals its manifest, of revision ${report.revision}: ${has}; it was not compared with the report: ${notCompared}`;
}
