import type { Command } from 'commander';
import { CommandError } from '../../terminal/error.ts';
import { counted, countText, type Output } from '../../terminal/output.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { destinationNamed } from '../sync/destinations.ts';
import { SyncError } from '../sync/source/error.ts';
import { isYetToCome, type Lag, type Source, type SourceIdentity } from '../sync/source/read-source.ts';
import type { Position } from '../sync/table/destination.ts';
import {
  addCopyOptions,
  type CopyOptions,
  openPlace,
  sourceOf,
  withSyncErrors,
  writeUnlessQuiet,
} from './sync-options.ts';

export function addStatusCommand(sync: Command, output: Output): void {
  const command = sync
    .command('status')
    .description(
      'show the revision of a copy, its age and the revision of the report; for a webhook, also what is pending',
    );
  addCopyOptions(command, ['table', 'files', 'webhook'])
    .addHelpText('after', '\nExample:\n  subreport sync status --to sqlite:copy.db')
    .action((options: CopyOptions) => runReader((signal) => withSyncErrors(() => showStatus(options, output, signal))));
}

async function showStatus(options: CopyOptions, output: Output, signal: AbortSignal): Promise<void> {
  const source = sourceOf(options);
  if (destinationNamed(options.to).mode === 'webhook') return showWebhookStatus(source, options, output, signal);
  const { readLag } = await import('../sync/source/read-source.ts');
  const position = await positionOf(options, output, signal);
  if (position === undefined)
    throw new CommandError("Cannot show the status: there must be a copy: run 'subreport sync' first");
  requireSame(position, source);
  const { rows = 0, revision, token, syncedAt } = position;
  const lag = await readLag(source, { revision, token }, signal);
  const age = ageOf(syncedAt);
  const when = age === null ? `at ${syncedAt}, which is yet to come` : `${countText(age)} s ago`;
  writeUnlessQuiet(
    output,
    options,
    {
      ...{ rows, revision, synced_at: syncedAt, age_seconds: age },
      ...{ report_revision: lag.revision, in_step: lag.isInStep },
    },
    `${counted(rows, 'row')} at revision ${revision}, synced ${when}: ${describeLag(lag)}`,
  );
}

/** The age in seconds; `null` if it is not known. */
const ageOf = (instant: string): number | null =>
  isYetToCome(instant) ? null : Math.max(0, Math.round((Date.now() - Date.parse(instant)) / 1_000));

/** Throws `SyncError` if a copy is of another client or service. */
function requireSame(copy: SourceIdentity, { service, clientId }: SourceIdentity): void {
  if (copy.service === service && copy.clientId === clientId) return;
  throw new SyncError(
    'OTHER_SOURCE',
    `Cannot show the status: the profile must be that of the sync: current value is a copy for '${copy.clientId}' of ${copy.service}`,
  );
}

function describeLag({ revision, isInStep, isTokenInvalid }: Lag): string {
  if (isTokenInvalid)
    return `its change token is no longer valid, so the next sync reads the whole report, which is at revision ${revision}`;
  return isInStep ? 'in step with the report' : `the report is at revision ${revision}`;
}

async function showWebhookStatus(
  source: Source,
  options: CopyOptions,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { readLag } = await import('../sync/source/read-source.ts');
  const { webhookNamed } = await import('../sync/webhook/webhook-options.ts');
  const { endpointGone, readWebhookStatus } = await import('../sync/webhook/webhook-state.ts');
  const webhook = webhookNamed(options);
  const status = readWebhookStatus(webhook, source, Date.now());
  if (status === undefined)
    throw new CommandError("Cannot show the status: the webhook must have a state: run 'subreport sync' first");
  const { revision, pending, failures, lastResult, disabledAt } = status;
  const lag = await readLag(source, status, signal);
  const retryAt = pending === 0 || failures === 0 ? undefined : new Date(status.retryAt).toISOString();
  const tries = failures === 0 ? '' : `, ${failures} failed tries, the last with ${lastResult}, the next at ${retryAt}`;
  writeUnlessQuiet(
    output,
    options,
    {
      ...{ revision, report_revision: lag.revision, in_step: lag.isInStep },
      ...{ pending, failures, last_result: lastResult, retry_at: retryAt },
    },
    `${counted(pending, 'event')} pending${tries}; changes told up to revision ${revision}: ${describeLag(lag)}`,
  );
  if (disabledAt > 0) throw endpointGone(webhook.url, disabledAt);
}

/** The position of a copy, or of the newest file, which has no token, and whose report it has. */
async function positionOf(
  options: CopyOptions,
  output: Output,
  signal: AbortSignal,
): Promise<(Omit<Position, 'token'> & SourceIdentity & { readonly token?: string }) | undefined> {
  if (destinationNamed(options.to).mode === 'table') {
    const { openCopy } = await import('../sync/destinations.ts');
    const copy = await openCopy(options);
    return copy.position().finally(() => copy.close());
  }
  const { newestRun } = await import('../sync/files/manifest.ts');
  const newest = await newestRun(await openPlace(options, output, signal));
  if (newest === undefined) return undefined;
  const { report, rows, completed_at: syncedAt } = newest.manifest;
  const { service, client_id: clientId, revision } = report;
  return { service, clientId, revision, rows, syncedAt };
}
