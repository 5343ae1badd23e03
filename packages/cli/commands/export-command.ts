import { randomBytes } from 'node:crypto';
import { createWriteStream, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ReadableStream } from 'node:stream/web';
import { type Command, Option } from 'commander';
import type { ExportQuery, SubscriptionExport } from '../../client/index.ts';
import { readFields } from '../../contract/fields.ts';
import type { Zone } from '../../contract/zone.ts';
import { addProfileOption, connect, type ProfileOption } from '../../terminal/connection.ts';
import { UsageError, writeFailure } from '../../terminal/error.ts';
import { counted, type Output, writeResult } from '../../terminal/output.ts';
import { createProgressBar } from '../../terminal/progress-bar.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { gzip } from '../sync/files/text-file.ts';
import { addParameterOptions, exportParameters } from './filter-options.ts';
import { addQueryOption, type LinkUse, newestFirst, readAsked } from './link-query.ts';
import { addListedFiles, readListedFiles, sayNotFound } from './listed-files.ts';
import { zoneOfDates } from './local-dates.ts';
import { openScreen, type Screen } from './record-writer.ts';

const linkUse: LinkUse = {
  page: 'subscriptions',
  parameters: exportParameters,
  ignored: ['by', 'page', 'size'],
  defaults: newestFirst,
};

const formats = ['csv', 'ndjson', 'parquet', 'xlsx'] as const;
type ExportFormat = (typeof formats)[number];

interface ExportOptions extends ProfileOption {
  readonly query?: string;
  readonly output?: ExportFormat;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

export function addExportCommand(program: Command, output: Output): void {
  const command = program
    .command('export')
    .argument('<file>', 'the file to write (- for standard output)')
    .description('write all subscriptions to a file from one snapshot, and verify that the file is complete');
  addProfileOption(addQueryOption(addListedFiles(addParameterOptions(command, exportParameters))))
    .addOption(
      new Option(
        '-o, --output <format>',
        'format of the file (default: from its name; ndjson for standard output)',
      ).choices(formats),
    )
    .option('-q, --quiet', 'suppress messages other than errors')
    .option('--json', 'print {"file","format","rows"} when the file is complete')
    .addHelpText(
      'after',
      `
The name of the file ends in .csv, .ndjson, .jsonl, .parquet or .xlsx, unless -o is given. If it
ends in .gz, CSV and NDJSON are compressed. A workbook (.xlsx) has room for 1,048,575 subscriptions;
its ICCIDs and ids are text. Dates are in UTC, or with --dates local in --zone: in CSV as
2024-05-01T10:00:00+02:00, in a workbook as cells whose heading names the zone.
The file is replaced only when the export is complete; an error or Ctrl-C leaves it unchanged.

Examples:
  subreport export subscriptions.csv
  subreport export active.ndjson --status ACTIVE
  subreport export ending.xlsx --expires-within 7d --auto-renew false
  subreport export subscriptions.csv --as-of 2026-10-31
  subreport export sims.xlsx --fields iccid,product.name,expirationDate
  subreport export month.xlsx --created-from last-month --created-to this-month --zone Europe/Berlin --dates local
  subreport export subscriptions.parquet
  subreport export october.csv --query 'created-from=last-month&created-to=this-month'
  subreport export sims.xlsx --iccid-file sims.txt
  subreport export subscriptions.csv.gz
  subreport export - -o csv | ./load-subscriptions`,
    )
    .action((file: string, options: ExportOptions) =>
      runReader(async (signal) => {
        if (options.json === true && file === '-')
          throw new UsageError(
            'Cannot print JSON: --json must go with a file: the export itself is on standard output',
          );
        const screen = openScreen({ quiet: options.quiet === true }, output);
        const { values } = readAsked(options, linkUse, screen);
        const listed = await readListedFiles({ ...options });
        for (const remark of listed.remarks) screen.remark(remark);
        const format = formatOf(file, options.output);
        if (isBinary(format) && file === '-' && output.stdout.isTTY === true)
          throw new UsageError(`Cannot print ${format}: it must go to a file or a pipe, not to a terminal`);
        const zone = zoneOfDates(values, format);
        const sent = format === 'xlsx' ? 'ndjson' : format;
        const { dates: _ofWorkbook, ...others } = values;
        const query = { ...(sent === 'csv' ? values : others), ...listed.lists } as ExportQuery;
        const report = await connect(options).client.export(query, { format: sent, signal });
        await writeReport(report, file, { format, screen, output, fields: values.fields, zone });
        const { explanation, notFound } = report;
        const rows = announcedRows(report);
        const what = rows === undefined ? 'The report is' : `${counted(rows, 'subscription')},`;
        sayNotFound(screen, report, listed);
        const lists = Object.keys(listed.lists).length === 0 ? {} : { not_found: notFound };
        if (options.json === true) writeResult(output, true, { file, format, rows, explanation, ...lists }, '');
        else screen.remark(`${what} complete${file === '-' ? '' : `: ${file}`}`);
      }),
    );
}

/** Binary formats, which are already compressed. */
const isBinary = (format: ExportFormat): boolean => format === 'xlsx' || format === 'parquet';

/** The format of a file, from the option or its name; standard output and pipes have no name. */
function formatOf(file: string, given: ExportFormat | undefined): ExportFormat {
  const known = given ?? extensions[extname(file.replace(compressed, '')).toLowerCase()];
  const isCompressed = compressed.test(file);
  if (known !== undefined && !(isCompressed && isBinary(known))) return known;
  if (file === '-' || isOtherThanFile(file)) return 'ndjson';
  throw new UsageError(
    `Cannot export to '${file}': its name must end in .csv, .ndjson or .jsonl, optionally followed by .gz, or in .parquet or .xlsx, or --output must be one of ${formats.join(', ')}`,
  );
}

const extensions: Readonly<Record<string, ExportFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.parquet': 'parquet',
  '.xlsx': 'xlsx',
};
const compressed = /\.gz$/i;

async function writeReport(
  report: SubscriptionExport,
  file: string,
  {
    format,
    screen,
    output,
    fields,
    zone,
  }: {
    readonly format: ExportFormat;
    readonly screen: Screen;
    readonly output: Output;
    readonly fields: string | undefined;
    /** The zone of the dates of a workbook. */
    readonly zone: Zone | undefined;
  },
): Promise<void> {
  const isShown = !screen.isQuiet && !(file === '-' && output.stdout.isTTY === true);
  const bar = createProgressBar(isShown ? output : { ...output, stderr: silent }, announcedRows(report));
  try {
    // only a workbook needs the library that writes it
    const workbook = format === 'xlsx' ? await import('../workbook/workbook.ts') : undefined;
    const rowsMax = workbook?.workbookRecordsMax ?? Number.POSITIVE_INFINITY;
    requireAtMost(rowsMax, announcedRows(report) ?? 0);
    const note = (rows: number): void => {
      requireAtMost(rowsMax, rows);
      bar.update(rows, rows);
    };
    const lines = format === 'parquet' ? report : withProgress(report, note);
    const chosen = fields === undefined ? undefined : readFields(fields).fields;
    const stream = () => ReadableStream.from(lines) as globalThis.ReadableStream<Uint8Array<ArrayBuffer>>;
    const content = workbook?.writeWorkbook(stream(), { fields: chosen, zone }) ?? lines;
    const chunks = compressed.test(file) ? gzip(content) : content;
    if (file === '-') for await (const chunk of chunks) await screen.write(chunk);
    else if (isOtherThanFile(file)) await pipeline(chunks, createWriteStream(file)).catch(failureOf(file));
    else await writeCompletely(file, chunks);
  } catch (error) {
    await report.cancel().catch(() => undefined); // it is being read, and ends by itself
    throw error;
  } finally {
    bar.end();
  }
}

/** Throws `UsageError` if a report has more records than a file of its format. */
function requireAtMost(rowsMax: number, rows: number): void {
  if (rows <= rowsMax) return;
  throw new UsageError(
    `Cannot write a workbook: a sheet must have at most ${rowsMax} subscriptions: current value is ${rows}. Narrow the report, or export .csv`,
  );
}

/** The number of records that the service announced; a proxy may have removed it. */
const announcedRows = ({ totalCount }: SubscriptionExport): number | undefined =>
  Number.isNaN(totalCount) ? undefined : totalCount;

const silent = { write: () => undefined };

/** Counts the lines, which are the subscriptions: no field contains a line break. */
async function* withProgress(report: SubscriptionExport, onLines: (lines: number) => void): AsyncGenerator<Uint8Array> {
  let lines = 0;
  for await (const chunk of report) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
    onLines(lines);
    yield chunk;
  }
}

/**
 * Replaces a file after all of its content was written and flushed. If anything fails before, the
 * previous file remains unchanged, and the temporary one is removed.
 */
async function writeCompletely(file: string, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}`);
  try {
    const handle = await open(temporary, 'wx');
    try {
      for await (const chunk of chunks) await handle.appendFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    // the first error is the one to report
    await rm(temporary, { force: true }).catch(() => undefined);
    return failureOf(file)(error);
  }
}

/**
 * Puts the requested file's name into the error; the system's message names the temporary file or
 * none.
 */
const failureOf =
  (file: string) =>
  (error: unknown): never => {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : writeFailure(file, error);
  };

/** Whether a path is a pipe or a device, which must not be replaced by a file. */
function isOtherThanFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isFile() && !found.isDirectory();
}
