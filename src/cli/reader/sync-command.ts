import { type Command, Option } from 'commander';
import type { AirbyteCommand } from '../../sync/airbyte.ts';
import type { Position } from '../../sync/destination.ts';
import { type SnapshotFormat, snapshotFormats } from '../../sync/manifest.ts';
import type { PlaceOptions } from '../../sync/open-destination.ts';
import type { Source, SyncResult } from '../../sync/run-sync.ts';
import { CommandError, TemporaryError, UsageError } from '../error.ts';
import { type Output, writeResult } from '../output.ts';
import { createProgressBar } from '../progress-bar.ts';
import { addProfileOption, connect, type ProfileOption } from './connection.ts';
import { allVariables } from './environment.ts';
import { runReader } from './reader-action.ts';
import { openScreen, type Screen } from './record-writer.ts';
import type { FileOptions } from './sync-file-command.ts';

interface CopyOptions extends ProfileOption, PlaceOptions {
  /** Checked by `requireDestination`. */
  readonly to: string;
  readonly table: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

interface SyncOptions extends CopyOptions {
  readonly reload?: boolean;
  readonly state?: string;
  readonly activateVersion?: boolean;
  readonly airbyte?: AirbyteCommand;
  readonly expiring?: string;
  readonly expiringAll?: boolean;
  readonly enable?: boolean;
  readonly format: SnapshotFormat;
  readonly scheduledFor?: string;
}

export function addSyncCommand(program: Command, output: Output): void {
  const group = program
    .command('sync')
    .description('keep a copy of the report in step with it, verify that it is equal, or tell a webhook what changes')
    .addHelpText('after', "\n'subreport sync --to …' is 'subreport sync run --to …'.");
  const command = group
    .command('run', { isDefault: true })
    .argument('[file]', 'YAML file with many copies and their schedules, instead of --to')
    .description('bring a copy in step with the report: sync without a subcommand; or those of a file on a schedule');
  addCopyOptions(
    command,
    'sqlite:FILE, postgres://USER@HOST/DATABASE, dir:PATH, s3://BUCKET/PREFIX, sftp://USER@HOST/PATH, webhook:URL, stdout:ndjson, stdout:singer or stdout:airbyte',
  )
    .option('--reload', 'read the whole report again, and bring the copy in step with it')
    .option(
      '--state <file>',
      'the position to continue from: for stdout:ndjson and a webhook also written; for stdout:singer and stdout:airbyte only read, - is standard input',
    )
    .option('--activate-version', 'for stdout:singer: write ACTIVATE_VERSION after a whole report')
    .addOption(
      new Option('--airbyte <command>', 'for stdout:airbyte: the command of the Airbyte source')
        .choices(['spec', 'check', 'discover', 'read'])
        .default('read'),
    )
    .option('--expiring <durations>', 'for a webhook: tell of subscriptions that end within these, such as 7d,3d,1d')
    .option('--expiring-all', 'with --expiring: also of subscriptions that renew automatically')
    .option('--enable', 'for a webhook: deliver again after a response with 410')
    .addOption(
      new Option('--format <format>', 'for files: the format; with .gz compressed')
        .choices(snapshotFormats)
        .default('csv'),
    )
    .option('--scheduled-for <date-time>', 'for files: the instant of the run, once for each (default: now)')
    .option('--once', 'with a file: run what is due or has no schedule, then end; with --to it is always so')
    .addHelpText(
      'after',
      `
The first sync reads the whole report, each further one what has changed. Records and position are written in one
transaction, and only if the copy has as many records as the report at the same revision. The password of PostgreSQL
may be in PGPASSWORD or ~/.pgpass.

In files (dir:, s3:, sftp:), each run writes the whole report to a new file below the instant of the run, and last
its manifest.json. A file without a manifest is not complete. S3 uses AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or
the file of credentials; AWS_REGION, and AWS_ENDPOINT_URL for other servers. SFTP uses the private key or password of
--secret-file, SUBREPORT_SFTP_PASSWORD or ssh-agent.

Examples:
  subreport sync --to sqlite:copy.db
  subreport sync --to postgres://reports@db.example.com/warehouse --table mobile.subscriptions
  subreport sync --to dir:/var/exports --format csv.gz
  subreport sync --to 's3://exports/subreport?region=eu-central-1' --format parquet
  subreport sync --to sftp://exports@files.example.com/reports --secret-file ~/.ssh/id_ed25519
  subreport sync --to stdout:ndjson --state sync.json | ./load-changes
  subreport sync --to webhook:https://example.com/hooks --state webhook.db --secret-file webhook.secret --expiring 7d,1d
  subreport sync run sync.yaml
  subreport sync run sync.yaml --once`,
    )
    .action((file: string | undefined, options: SyncOptions & FileOptions) =>
      runReader((signal) =>
        withSyncErrors(async () => {
          if (file === undefined) return sync(options, openScreen(options, output), output, signal);
          const { runSyncFile } = await import('./sync-file-command.ts');
          return runSyncFile(file, options, output, signal);
        }),
      ),
    )
    .hook('preAction', requireDestination);
  addVerifyCommand(group, output);
  addStatusCommand(group, output);
  addCheckCommand(group, output);
}

/** Throws unless a command has a destination, or a file and no options of a destination. */
function requireDestination(command: Command): void {
  const [file] = command.args;
  if (file === undefined && command.getOptionValue('to') === undefined)
    throw new UsageError('Cannot run the command: --to <destination> must be given, or a file such as sync.yaml');
  const others = command.options.filter((option) => {
    const name = option.attributeName();
    return !['once', 'json', 'quiet'].includes(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (file !== undefined && others.length > 0)
    throw new UsageError(
      `Cannot use ${others.map(({ long }) => long).join(', ')} with '${file}': each entry of the file must have its own, such as 'to: sqlite:copy.db'`,
    );
}

/** The options of every command of a copy. */
const addCopyOptions = (command: Command, destinations: string): Command =>
  addProfileOption(command)
    .option('--to <destination>', `the copy: ${destinations}`)
    .option('--table <name>', 'the table of a database', 'subscriptions')
    .option(
      '--secret-file <file>',
      'file of the secret: credentials of S3; private key or password of SFTP; signing secret of a webhook, in a second line the former one',
    )
    .option('--host-key <fingerprint>', 'the host key of an SFTP server, such as SHA256:…')
    .option('--known-hosts <file>', 'the host keys of SFTP servers (default: ~/.ssh/known_hosts)')
    .option('--json', 'print JSON')
    .option('-q, --quiet', 'suppress messages other than errors');

function sourceOf(options: CopyOptions): Source {
  const { client, profile } = connect(options);
  return { client, service: profile.base_url, clientId: profile.client_id };
}

async function sync(options: SyncOptions, screen: Screen, output: Output, signal: AbortSignal): Promise<void> {
  const isStream = options.to.startsWith('stdout:');
  if (options.to.startsWith('webhook:')) return tellWebhook(options, output, signal);
  const { to, airbyte = 'read' } = options;
  if (to === 'stdout:airbyte' && airbyte !== 'read') {
    const { answerAirbyte } = await import('../../sync/airbyte.ts');
    return screen.write(await answerAirbyte(airbyte, () => sourceOf(options)));
  }
  const source = sourceOf(options);
  const { isFilePlace, openDestination } = await import('../../sync/open-destination.ts');
  if (isFilePlace(options.to)) return syncFile(source, options, output, signal);
  const { runSync } = await import('../../sync/run-sync.ts');
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
  const { readWebhook } = await import('../../sync/webhook-options.ts');
  const { runWebhook } = await import('../../sync/run-webhook.ts');
  const webhook = readWebhook(options);
  const { delivered, revision, isFirst } = await runWebhook(sourceOf(options), webhook, { signal });
  if (options.quiet === true && options.json !== true) return;
  const sentence = isFirst
    ? `The webhook begins with the changes after revision ${revision}`
    : `${delivered.toLocaleString('en')} events delivered, up to revision ${revision}`;
  writeResult(output, options.json === true, { delivered, revision, first: isFirst }, sentence);
}

/** Writes the report to a new file. */
async function syncFile(source: Source, options: SyncOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { openFiles } = await import('../../sync/open-destination.ts');
  const { runSnapshot } = await import('../../sync/run-snapshot.ts');
  const run = { format: options.format, scheduledFor: readInstant(options.scheduledFor), signal };
  const result = await runSnapshot(source, await openFiles(options, allVariables()), run);
  if (options.quiet === true && options.json !== true) return;
  const { manifest, place, wasComplete } = result;
  const sentence = `${tableSentence({ rows: manifest.rows, revision: manifest.report.revision })} in ${place}`;
  const done = `The run for ${manifest.scheduled_for} was complete before: nothing was written`;
  writeResult(
    output,
    options.json === true,
    { place, was_complete: wasComplete, ...manifest },
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
  `${written.toLocaleString('en')} records and ${removed.toLocaleString('en')} removals, up to revision ${revision}`;

const tableSentence = ({ rows = 0, revision }: Pick<SyncResult, 'rows' | 'revision'>): string => {
  const count = `${rows.toLocaleString('en')} rows`;
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
  addCopyOptions(
    command,
    'sqlite:FILE, postgres://USER@HOST/DATABASE, dir:PATH, s3://BUCKET/PREFIX or sftp://USER@HOST/PATH',
  )
    .addHelpText('after', '\nExample:\n  subreport sync verify --to sqlite:copy.db')
    .action((options: CopyOptions) => runReader((signal) => withSyncErrors(() => verify(options, output, signal))))
    .hook('preAction', requireDestination);
}

async function verify(options: CopyOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { isFilePlace, openCopy } = await import('../../sync/open-destination.ts');
  if (isFilePlace(options.to)) return verifyFile(options, output);
  const source = sourceOf(options);
  const { verifyCopy } = await import('../../sync/verify-copy.ts');
  const copy = await openCopy(options);
  const {
    revision,
    copy: found,
    report,
    isEqual,
  } = await verifyCopy(source, copy, { signal }).finally(() => copy.close());
  const describe = ({ rows, sha256 }: typeof found) => `${rows.toLocaleString('en')} rows with SHA-256 ${sha256}`;
  if (!isEqual)
    throw new CommandError(
      `Cannot confirm the copy: it must equal the report at revision ${revision}, ${describe(report)}; 'subreport sync --reload' repairs it: current value is ${describe(found)}`,
    );
  const sentence = `The copy equals the report at revision ${revision}: ${describe(found)}`;
  if (options.quiet !== true || options.json === true)
    writeResult(output, options.json === true, { revision, ...found }, sentence);
}

/** Compares the newest file with its manifest, without the service. */
async function verifyFile(options: CopyOptions, output: Output): Promise<void> {
  const { openFiles } = await import('../../sync/open-destination.ts');
  const { verifySnapshot } = await import('../../sync/run-snapshot.ts');
  const { manifest, place, found, isEqual } = await verifySnapshot(await openFiles(options, allVariables()));
  const describe = ({ bytes, sha256 }: typeof found) => `${bytes.toLocaleString('en')} bytes with SHA-256 ${sha256}`;
  if (!isEqual)
    throw new CommandError(
      `Cannot confirm ${place}: it must be the file of its manifest, ${describe(manifest)}; 'subreport sync' writes a new one: current value is ${describe(found)}`,
    );
  const sentence = `The file equals its manifest, of revision ${manifest.report.revision}: ${describe(found)} in ${place}`;
  if (options.quiet !== true || options.json === true)
    writeResult(output, options.json === true, { place, ...manifest }, sentence);
}

function addStatusCommand(sync: Command, output: Output): void {
  const command = sync
    .command('status')
    .argument('[file]', 'file of sync run: show the last runs of its entries, and fail if one failed')
    .description('show the revision of a copy, its age, and how many revisions it is behind the report');
  addCopyOptions(
    command,
    'sqlite:FILE, postgres://USER@HOST/DATABASE, dir:PATH, s3://BUCKET/PREFIX or sftp://USER@HOST/PATH',
  )
    .addHelpText('after', '\nExamples:\n  subreport sync status --to sqlite:copy.db\n  subreport sync status sync.yaml')
    .action((file: string | undefined, options: CopyOptions) =>
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

function addCheckCommand(sync: Command, output: Output): void {
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
  for await (const { revision } of source.client.changes('now', { signal })) {
    if (options.quiet !== true || options.json === true)
      writeResult(output, options.json === true, { revision }, 'source and destination can be used');
    return;
  }
}

async function checkDestination(options: CopyOptions, source: Source): Promise<void> {
  if (options.to.startsWith('webhook:')) {
    const { readWebhook } = await import('../../sync/webhook-options.ts');
    readWebhook(options); // nothing is sent
    return;
  }
  const { isFilePlace, openDestination, openFiles } = await import('../../sync/open-destination.ts');
  if (isFilePlace(options.to)) {
    const { newestManifest, requireSource } = await import('../../sync/manifest.ts');
    const files = await openFiles(options, allVariables());
    const newest = await newestManifest(files).finally(() => files.close());
    if (newest !== undefined) requireSource(files, newest.manifest, source);
    return;
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

async function showStatus(options: CopyOptions, output: Output, signal: AbortSignal): Promise<void> {
  const { client } = sourceOf(options);
  const position = await positionOf(options);
  if (position === undefined)
    throw new CommandError("Cannot show the status: there must be a copy: run 'subreport sync' first");
  const { rows = 0, revision, syncedAt } = position;
  let current = revision;
  for await (const page of client.changes('now', { signal })) current = Math.max(page.revision || 0, revision);
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(syncedAt)) / 1000));
  const lag = current === revision ? 'in step with the report' : `the report is at revision ${current}`;
  writeResult(
    output,
    options.json === true,
    { rows, revision, synced_at: syncedAt, age_seconds: seconds, report_revision: current },
    `${rows.toLocaleString('en')} rows at revision ${revision}, synced ${seconds.toLocaleString('en')} s ago: ${lag}`,
  );
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

/** Exit code 2 for what the user must change, 1 for any other failure of a sync. */
async function withSyncErrors(work: () => Promise<void>): Promise<void> {
  const { SyncError } = await import('../../sync/error.ts');
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    const isUsage = ['DESTINATION_INVALID', 'DESTINATION_CHANGED', 'OTHER_SOURCE', 'DESTINATION_GONE'].includes(
      error.code,
    );
    const other = error.code === 'DELIVERY_PENDING' ? TemporaryError : CommandError;
    throw new (isUsage ? UsageError : other)(error.message, { cause: error });
  }
}
