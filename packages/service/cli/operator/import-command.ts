import { type Command, InvalidArgumentError, Option } from 'commander';
import { serverOf } from '../../../cli/remote/server.ts';
import { UsageError } from '../../../terminal/error.ts';
import { integerFrom } from '../../../terminal/integer-option.ts';
import type { Output } from '../../../terminal/output.ts';
import { createProgressBar } from '../../../terminal/progress-bar.ts';
import { encodingOf } from '../../import/encoding.ts';
import { importFormats } from '../../import/read-valid-rows.ts';
import type { Spool } from '../../import/spool.ts';
import { loadRecords } from '../../operator/load.ts';
import type { OperatorContext } from '../../operator/perform.ts';
import { requireTenant, resolveMapping } from '../../operator/require-tenant.ts';
import { readConfig } from '../config.ts';
import { withOperator } from '../store/command-context.ts';
import { openSpool } from '../store/open-spool.ts';
import { openErrorsFile } from './errors-file.ts';
import { flagsOf, type ImportCommandOptions, type ImportSource, openImportSource } from './import-source.ts';
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
      'for CSV: JSON that names the columns of fields, constants for fields without one, and what values mean; or saved, for that of the tenant',
    )
    .option('--encoding <name>', 'encoding of the file, such as windows-1250 (default: UTF-8)', readEncoding)
    .option('--dry-run', 'validate all rows without loading them, and show the first as they would be stored')
    .option('--strict', 'load nothing if any row is invalid')
    .option('--replace', 'atomically replace all records of the tenant; records that are not in the file are removed')
    .option(
      '--remove <n>',
      'with --replace: how many records are removed; required if they are all records, or more than half and at least 20',
      integerFrom(0, 999_999_999, 600),
    )
    .option('--errors <file>', 'write every rejected row to this file as NDJSON, with its line number and errors')
    .option('--json', 'print a JSON summary')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport import subscriptions.ndjson --tenant acme\n  subreport import subscriptions.ndjson.gz --tenant acme\n  subreport import subscriptions.csv --tenant acme --errors rejected.ndjson\n  cat export.csv | subreport import - --format csv --tenant acme --dry-run',
    )
    .action(async (file: string, options: ImportCommandOptions) => {
      if (options.remove !== undefined && options.replace !== true)
        throw new UsageError('Cannot use --remove: it must be combined with --replace');
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

const readEncoding = (name: string): string | undefined =>
  encodingOf(name, (rule) => {
    throw new InvalidArgumentError(`It must be ${rule}`);
  });

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
  const errorsFile = options.errors === undefined ? undefined : await openErrorsFile(options.errors, source.identity);
  const { opened, onProgress, end } = withProgress(source, output);
  try {
    const { summary, refused } = await loadRecords(context, {
      tenant,
      via: 'command',
      source: opened,
      format: source.format,
      encoding: options.encoding,
      mapping: await resolveMapping(store, tenant, source.mapping),
      flags: flagsOf(options),
      remove: options.remove,
      errors: [],
      errorsMax: shownMax,
      onRejected: (row) => errorsFile?.write(row),
      onProgress,
    }).finally(end);
    writeImport(output, options, summary);
    if (refused !== undefined) throw refused;
    return summary.rejected > 0;
  } finally {
    await errorsFile?.close();
  }
}

/** A source whose reading moves a progress bar. */
function withProgress(source: CommandSource, output: Output) {
  const bar = createProgressBar(output, source.bytes);
  let bytes = 0;
  const open = (): AsyncIterable<Buffer> =>
    source.open((read) => {
      bytes = read;
      if (source.spool !== undefined) bar.updateBytes(bytes);
    });
  return { opened: { ...source, open }, onProgress: (rows: number) => bar.update(bytes, rows), end: bar.end };
}
