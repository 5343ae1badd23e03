import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import { type Command, Option } from 'commander';
import type { ExportQuery, SubscriptionExport } from '../../client/index.ts';
import { defaultPageLimits } from '../../contract/page-limits.ts';
import { reportParameters } from '../../contract/query.ts';
import { UsageError } from '../error.ts';
import { type Output, writeResult } from '../output.ts';
import { createProgressBar } from '../progress-bar.ts';
import { addProfileOption, connect, type ProfileOption } from './connection.ts';
import { addParameterOptions, readParameters } from './filter-options.ts';
import { openScreen, type Screen } from './output-options.ts';
import { runReader } from './reader-action.ts';
import { isOtherThanFile, writeCompletely } from './write-completely.ts';

const {
  format: _format,
  all: _all,
  size: _size,
  page: _page,
  cursor: _cursor,
  ...parameters
} = reportParameters(defaultPageLimits);

const formats = ['csv', 'ndjson'] as const;

interface ExportOptions extends ProfileOption {
  readonly output?: (typeof formats)[number];
  readonly quiet?: boolean;
  readonly json?: boolean;
}

/** `subreport export`. */
export function addExportCommand(program: Command, output: Output): void {
  const command = program
    .command('export')
    .argument('<file>', 'the file to write (- for standard output)')
    .description('write all subscriptions to a file from one snapshot, and verify that the file is complete');
  addProfileOption(addParameterOptions(command, parameters))
    .addOption(
      new Option('-o, --output <format>', 'by default csv if the file ends with .csv, otherwise ndjson').choices(
        formats,
      ),
    )
    .option('-q, --quiet', 'suppress messages other than errors')
    .option('--json', 'print {"file","format","rows"} when the file is complete')
    .addHelpText(
      'after',
      `
The file is replaced only when the export is complete: an error or Ctrl-C leaves the previous file unchanged.

Examples:
  subreport export subscriptions.csv
  subreport export active.ndjson --status ACTIVE
  subreport export - -o csv | gzip > subscriptions.csv.gz`,
    )
    .action((file: string, options: ExportOptions) =>
      runReader(async (signal) => {
        if (options.json === true && file === '-')
          throw new UsageError(
            'Cannot print JSON: --json must go with a file: the export itself is on standard output',
          );
        const screen = openScreen({ quiet: options.quiet === true }, output);
        const { values, dates } = readParameters({ ...options }, parameters);
        for (const { name, instant } of dates) screen.remark(`--${name} ${instant}`);
        const format = options.output ?? (extname(file).toLowerCase() === '.csv' ? 'csv' : 'ndjson');
        const report = await connect(options).client.export(values as ExportQuery, { format, signal });
        await writeReport(report, file, { screen, output });
        const rows = report.totalCount;
        if (options.json === true) writeResult(output, true, { file, format, rows }, '');
        else screen.remark(`${rows.toLocaleString('en')} subscriptions, complete${file === '-' ? '' : `: ${file}`}`);
      }),
    );
}

async function writeReport(
  report: SubscriptionExport,
  file: string,
  { screen, output }: { readonly screen: Screen; readonly output: Output },
): Promise<void> {
  const isShown = !screen.isQuiet && !(file === '-' && output.stdout.isTTY === true);
  const bar = createProgressBar(isShown ? output : { ...output, stderr: silent }, report.totalCount);
  try {
    const chunks = withProgress(report, (lines) => bar.update(lines, lines));
    if (file === '-') for await (const chunk of chunks) await screen.write(chunk);
    else if (isOtherThanFile(file)) await copy(chunks, createWriteStream(file));
    else await writeCompletely(file, chunks);
  } finally {
    bar.end();
  }
}

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

async function copy(chunks: AsyncIterable<Uint8Array>, target: Writable): Promise<void> {
  for await (const chunk of chunks) if (!target.write(chunk)) await once(target, 'drain');
  target.end();
  await once(target, 'finish');
}
