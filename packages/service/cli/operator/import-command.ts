import { type Command, Option } from 'commander';
import { serverOf } from '../../../cli/remote/server.ts';
import { importFlags, outcomeOf } from '../../../contract/load.ts';
import { UsageError } from '../../../terminal/error.ts';
import { integerFrom } from '../../../terminal/integer-option.ts';
import type { Output } from '../../../terminal/output.ts';
import { createProgressBar } from '../../../terminal/progress-bar.ts';
import type { ColumnMapping } from '../../import/csv-layout.ts';
import { importWhole } from '../../import/import-records.ts';
import type { ImportSummary } from '../../import/import-summary.ts';
import {
  decompressedGibMax,
  importFormats,
  type RejectedRow,
  type SourceOptions,
} from '../../import/read-valid-rows.ts';
import type { Spool } from '../../import/spool.ts';
import type { FollowImport, ImportFlag } from '../../import/with-history.ts';
import { loadRecords } from '../../operator/load.ts';
import type { OperatorContext } from '../../operator/perform.ts';
import { requireTenant, resolveMapping } from '../../operator/require-tenant.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { readConfig } from '../config.ts';
import { reportUnrecorded } from '../log/describe-failure.ts';
import { withOperator } from '../store/command-context.ts';
import { openSpool } from '../store/open-spool.ts';
import { openErrorsFile } from './errors-file.ts';
import { type ImportCommandOptions, type ImportSource, openImportSource } from './import-source.ts';
import { shownMax, writeImport } from './import-text.ts';
import { addServerOption } from './operator-api.ts';

export function addImportCommand(program: Command, output: Output): void {
  const command = program
    .command('import')
    .description(
      'load subscriptions of a tenant from NDJSON or CSV, optionally compressed with gzip or zstd; importing a file again changes nothing',
    )
    .argument('<file>', 'the file, or - for standard input')
    .requiredOption('--tenant <tenant>', 'the tenant of the subscriptions')
    .addOption(new Option('--format <format>', 'format of the file (default: from its name)').choices(importFormats))
    .option(
      '--columns <file>',
      'for CSV: JSON that names the columns of fields, and constants for fields without one; or saved, for that of the tenant',
    )
    .option('--dry-run', 'validate all rows without loading them, and show the first as they would be stored')
    .option('--strict', 'load nothing if any row is invalid')
    .option('--replace', 'atomically replace all records of the tenant; records that are not in the file are removed')
    .option(
      '--remove <n>',
      'with --replace: how many records are removed; required if they are all records, or more than half and at least 20',
      integerFrom(0, 999_999_999, 600),
    )
    .option('--errors <file>', 'write every rejected row to this file as NDJSON, with its line number and errors')
    .option(
      '--unpacked-max-gib <n>',
      `maximum uncompressed size of a gzip or zstd file (default: ${decompressedGibMax})`,
      integerFrom(1, 99_999, 64),
    )
    .option('--json', 'print a JSON summary')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport import subscriptions.ndjson --tenant acme\n  subreport import subscriptions.ndjson.gz --tenant acme\n  subreport import subscriptions.csv --tenant acme --errors rejected.ndjson\n  cat export.csv | subreport import - --format csv --tenant acme --dry-run',
    )
    .action(async (file: string, options: ImportCommandOptions) => {
      requireCompatible(options);
      const server = serverOf(options);
      if (server !== undefined) return (await import('./import-there.ts')).importThere(server, file, options, output);
      const config = readConfig();
      const source = openImportSource(file, options);
      const spool = source.bytes === undefined ? openSpool(config) : undefined;
      await spool?.sweep();
      const failed = await withOperator(config, (context) => runImport(context, { ...source, spool }, options, output));
      if (failed) process.exitCode = 1;
    });
  addServerOption(command);
}

/** Throws `UsageError` if options contradict each other. */
function requireCompatible({ replace, remove }: ImportCommandOptions): void {
  if (remove !== undefined && replace !== true)
    throw new UsageError('Cannot use --remove: it must be combined with --replace');
}

/** Standard input and pipes have a spool. */
type CommandSource = ImportSource & { readonly spool: Spool | undefined };

/** Imports and prints the result; returns whether any row was rejected. */
async function runImport(
  context: OperatorContext,
  source: CommandSource,
  options: ImportCommandOptions,
  output: Output,
): Promise<boolean> {
  const { store } = context;
  const tenant = await requireTenant(store, options.tenant, 'add');
  const started = performance.now();
  const shown: RejectedRow[] = [];
  const errorsFile = options.errors === undefined ? undefined : await openErrorsFile(options.errors, source.identity);
  const onRejected = async (row: RejectedRow): Promise<void> => {
    if (shown.length < shownMax) shown.push(row);
    await errorsFile?.write(row);
  };
  const dryRun = options.dryRun === true;
  try {
    const mapping = await resolveMapping(store, tenant, source.mapping);
    const load = loadKind(tenant, source, options);
    const loaded = await loadRecords(context, { ...load, mapping }, reportUnrecorded(output), (follow) =>
      loadSource({ store, tenant, source, mapping, options, output, onRejected, follow }),
    );
    const { refused, importId, removed, firstRecords, warnings, ...counts } = loaded;
    writeImport(output, options, {
      tenant,
      import_id: importId,
      dry_run: dryRun,
      outcome: outcomeOf({ ...loaded, dryRun }),
      ...counts,
      ...(options.replace === true && { removed }),
      seconds: Math.round(performance.now() - started) / 1000,
      errors: shown.map(({ line, errors }) => ({ line, errors: [...errors] })),
      warnings: [...warnings],
      ...(dryRun && { first_records: [...firstRecords] }),
    });
    if (refused !== undefined) throw refused;
    return counts.rejected > 0;
  } finally {
    await errorsFile?.close();
  }
}

interface Load extends Pick<SourceOptions, 'onRejected'> {
  readonly store: Store;
  readonly tenant: TenantId;
  readonly source: CommandSource;
  readonly mapping: ColumnMapping | undefined;
  readonly options: ImportCommandOptions;
  readonly output: Output;
  readonly follow: FollowImport;
}

async function loadSource(load: Load): Promise<ImportSummary> {
  const { store, tenant, source, mapping, options, output, onRejected, follow } = load;
  const { dryRun = false, strict = false, replace = false, remove } = options;
  const decompression = { bytesMax: (options.unpackedMaxGib ?? decompressedGibMax) * 2 ** 30 };
  const { opened, onProgress, end } = withProgress(source, output);
  const common = follow({ format: source.format, mapping, decompression, onRejected, onProgress });
  try {
    return await importWhole(store, tenant, opened, { ...common, dryRun, strict, replace, remove });
  } finally {
    end();
  }
}

const loadKind = (tenant: TenantId, { format }: ImportSource, options: ImportCommandOptions) => ({
  tenant,
  via: 'command' as const,
  format,
  flags: importFlags.filter((flag) => (options[optionOf[flag]] ?? false) !== false),
});

const optionOf = {
  replace: 'replace',
  strict: 'strict',
  'dry-run': 'dryRun',
  remove: 'remove',
  columns: 'columns',
} as const satisfies Record<ImportFlag, keyof ImportCommandOptions>;

/** A source whose reading moves a progress bar. */
function withProgress(source: CommandSource, output: Output) {
  const bar = createProgressBar(output, source.bytes);
  let bytes = 0;
  const open = (): AsyncIterable<Buffer> => {
    bytes = 0;
    return source.open((more) => {
      bytes += more;
      if (source.spool !== undefined) bar.updateBytes(bytes);
    });
  };
  return { opened: { ...source, open }, onProgress: (rows: number) => bar.update(bytes, rows), end: bar.end };
}
