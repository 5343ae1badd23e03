import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ImportError } from '../import/error.ts';
import {
  type ImportFormat,
  type ImportOptions,
  type ImportSummary,
  importFormats,
  importRecords,
  type RejectedRow,
  unpackedGibMax,
} from '../import/import-records.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { readConfig } from './config.ts';
import { CommandError } from './error.ts';
import { type ImportSource, openImportSource } from './import-source.ts';
import { type Output, writeResult } from './output.ts';
import { createProgressBar } from './progress-bar.ts';
import { requireTenant, withStore } from './store-session.ts';

interface CommandOptions {
  readonly tenant: string;
  readonly format?: ImportFormat;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
  readonly errors?: string;
  readonly unpackedMaxGib: number;
  readonly json?: boolean;
}

/** Rejected rows that are shown on the screen or in the JSON summary; `--errors FILE` has them all. */
const shownMax = 20;

/** `subreport import`. */
export function addImportCommand(program: Command, output: Output): void {
  program
    .command('import')
    .description(
      'load subscriptions of a tenant from NDJSON or CSV, packed by gzip or zstd or not; the same file twice changes nothing',
    )
    .argument('<file>', 'the file, or - for standard input')
    .requiredOption('--tenant <tenant>', 'the tenant whose subscriptions they are')
    .addOption(new Option('--format <format>', 'format of the file, unless its name tells').choices(importFormats))
    .option('--dry-run', 'check every row and load none')
    .option('--strict', 'load nothing at all when one row is bad')
    .option('--errors <file>', 'write every rejected row to this file as NDJSON, with its line and what is wrong')
    .option('--unpacked-max-gib <n>', 'most GiB that a gzip or zstd file may unpack to', parseGib, unpackedGibMax)
    .option('--json', 'print a JSON summary')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport import subscriptions.ndjson --tenant acme\n  subreport import subscriptions.ndjson.gz --tenant acme\n  subreport import subscriptions.csv --tenant acme --errors rejected.ndjson\n  cat export.csv | subreport import - --format csv --tenant acme --dry-run',
    )
    .action(async (file: string, options: CommandOptions) => {
      const source = await openImportSource(file, options.format, options.strict === true);
      try {
        const failed = await withStore(readConfig(), async (store) =>
          runImport(store, await requireTenant(store, options.tenant), source, options, output),
        );
        if (failed) process.exitCode = 1;
      } finally {
        source.dispose();
      }
    });
}

/** Imports and reports; whether any row was rejected. */
async function runImport(
  store: Store,
  tenant: TenantId,
  source: ImportSource,
  options: CommandOptions,
  output: Output,
): Promise<boolean> {
  const started = performance.now();
  const shown: RejectedRow[] = [];
  const errorsFile = options.errors === undefined ? undefined : await createErrorsFile(options.errors);
  const onRejected = async (row: RejectedRow): Promise<void> => {
    if (shown.length < shownMax) shown.push(row);
    if (errorsFile !== undefined && !errorsFile.write(`${JSON.stringify(row)}\n`)) await once(errorsFile, 'drain');
  };
  const pass = (dryRun: boolean, report: ImportOptions['onRejected']) =>
    readSource(
      store,
      tenant,
      source,
      { format: source.format, dryRun, onRejected: report, unpackedBytesMax: options.unpackedMaxGib * 2 ** 30 },
      output,
    );
  try {
    const dryRun = options.dryRun === true;
    let summary = await pass(dryRun || options.strict === true, onRejected);
    const refused = options.strict === true && summary.rejected > 0;
    if (options.strict === true && !refused && !dryRun) summary = await pass(false, failOnChange);
    const seconds = (performance.now() - started) / 1000;
    if (options.json !== true) for (const row of shown) output.stderr.write(`${rejectedText(row)}\n`);
    const result = {
      tenant,
      dry_run: dryRun,
      ...summary,
      seconds: Math.round(seconds * 1000) / 1000,
      errors: shown.map(({ line, errors }) => ({ line, errors })),
    };
    writeResult(output, options.json === true, result, summaryText(summary, tenant, dryRun, seconds, shown.length));
    if (refused)
      throw new ImportError(
        'BAD_ROWS',
        `Cannot import '${source.name}' strictly: every row must be right: ${summary.rejected} of ${summary.read} are not; nothing was loaded`,
      );
    return summary.rejected > 0;
  } finally {
    if (errorsFile !== undefined) await finished(errorsFile.end());
  }
}

async function readSource(
  store: Store,
  tenant: TenantId,
  source: ImportSource,
  options: ImportOptions,
  output: Output,
): Promise<ImportSummary> {
  const bar = createProgressBar(output, source.bytes);
  let bytes = 0;
  try {
    const opened = source.open((more) => {
      bytes += more;
    });
    return await importRecords(store, tenant, opened, { ...options, onProgress: (read) => bar.update(bytes, read) });
  } finally {
    bar.end();
  }
}

/** For the second pass of a strict import, whose rows were all right in the first. */
function failOnChange({ line }: RejectedRow): never {
  throw new ImportError(
    'BAD_ROWS',
    `Cannot go on with the strict import: the source must not change while it is read: line ${line} was right before`,
  );
}

async function createErrorsFile(file: string): Promise<WriteStream> {
  const stream = createWriteStream(file, { mode: 0o600 }); // rejected rows may hold e-mail addresses
  await once(stream, 'open').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`Cannot write '${file}': it must be a file that this user can write (${error.code})`);
  });
  return stream;
}

function rejectedText({ line, errors }: RejectedRow): string {
  const faults = errors.map(({ field, value, rule }) => {
    const what = field === '' ? 'the row' : field;
    return `${what} must be ${rule}${value === null ? '' : `: current value is ${value}`}`;
  });
  return `line ${line}: ${faults.join('; ')}`;
}

function summaryText(summary: ImportSummary, tenant: string, dryRun: boolean, seconds: number, shown: number): string {
  const { read, accepted, rejected, inserted, updated, unchanged } = summary;
  const done = dryRun
    ? `${accepted} right (dry run: nothing was loaded)`
    : `${inserted} inserted, ${updated} updated, ${unchanged} unchanged`;
  const more = rejected > shown ? ` (${shown} of them shown; --errors FILE writes all)` : '';
  return `Tenant ${tenant}: ${read} rows read in ${seconds.toFixed(1)} s: ${done}, ${rejected} rejected${more}.`;
}

function parseGib(text: string): number {
  const gib = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (gib < 1)
    throw new InvalidArgumentError(`it must be a whole number of GiB, such as 64: current value is '${text}'`);
  return gib;
}
