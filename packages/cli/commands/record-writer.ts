import { type Command, Option } from 'commander';
import { guardText, writeRecordLine } from '../../contract/csv.ts';
import { wantsColor } from '../../terminal/environment.ts';
import type { Output } from '../../terminal/output.ts';
import { printableJson } from '../../terminal/printable.ts';
import { type Column, type FittedTable, fitTable } from './fit-table.ts';

interface RecordWriter<Row> {
  page(rows: readonly Row[]): Promise<void>;
  end(): Promise<void>;
}

/** How rows are formatted. */
export interface RowLayout<Row> {
  readonly columns: readonly Column<Row>[];
  readonly csvHeader: readonly string[];
  readonly csvCells: (row: Row) => readonly (string | undefined)[];
}

export function writeRecords<Row>(screen: Screen, layout: RowLayout<Row>): RecordWriter<Row> {
  if (screen.format === 'table') return tableWriter(screen, layout);
  if (screen.format === 'csv') return csvWriter(screen, layout);
  return screen.format === 'json' ? jsonWriter(screen) : lineWriter(screen);
}

/** A response and its rows, such as the counts of a summary. */
interface Response<Row> {
  /** What is printed as JSON. */
  readonly whole: object;
  readonly rows: readonly Row[];
  readonly layout: RowLayout<Row>;
  /** What is said below the rows. */
  readonly remarks?: readonly string[];
}

/** Writes a response: as JSON the whole, in other formats its rows. */
export async function writeResponse<Row>(screen: Screen, response: Response<Row>): Promise<void> {
  const { whole, rows, layout, remarks = [] } = response;
  if (screen.format === 'json') return screen.write(`${jsonOf(whole, 2)}\n`);
  const writer = writeRecords(screen, layout);
  await writer.page(rows);
  await writer.end();
  for (const remark of remarks) screen.remark(remark);
}

/** The columns have the widths of the first rows. */
function tableWriter<Row>(screen: Screen, { columns }: RowLayout<Row>): RecordWriter<Row> {
  let table: FittedTable<Row> | undefined;
  return {
    async page(rows) {
      if (rows.length === 0) return;
      const fitted = table ?? fitTable(columns, rows, screen.width);
      const lines = [...(table === undefined ? [fitted.header()] : []), ...rows.map((row) => fitted.line(row))];
      table = fitted;
      await screen.write(`${lines.join('\n')}\n`);
    },
    async end() {
      const dropped = table?.dropped ?? [];
      if (dropped.length > 0) {
        screen.remark(`Columns that do not fit: ${dropped.join(', ')}. All fields: -o csv, or 'subreport show ID'`);
      }
    },
  };
}

function csvWriter<Row>(screen: Screen, { csvHeader, csvCells }: RowLayout<Row>): RecordWriter<Row> {
  let before = writeRecordLine(csvHeader);
  return {
    async page(rows) {
      const lines = rows.map((row) => writeRecordLine(csvCells(row).map((cell) => cell && guardText(cell))));
      await screen.write(before + lines.join(''));
      before = '';
    },
    end: () => screen.write(before),
  };
}

function jsonWriter<Row>(screen: Screen): RecordWriter<Row> {
  let before = '[\n';
  return {
    async page(rows) {
      if (rows.length === 0) return;
      await screen.write(before + rows.map((row) => jsonOf(row)).join(',\n'));
      before = ',\n';
    },
    end: () => screen.write(before === '[\n' ? '[]\n' : '\n]\n'),
  };
}

function lineWriter<Row>(screen: Screen): RecordWriter<Row> {
  return {
    page: (rows) => screen.write(rows.map((row) => `${jsonOf(row)}\n`).join('')),
    end: async () => undefined,
  };
}

const jsonOf = (value: unknown, indent?: number): string => printableJson(JSON.stringify(value, null, indent));

const outputFormats = ['table', 'json', 'ndjson', 'csv'] as const;
type OutputFormat = (typeof outputFormats)[number];

/** The options of `addOutputOptions`. */
export interface OutputOptions {
  readonly output?: OutputFormat;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Adds `-o`, `--json` and `--quiet`. */
export function addOutputOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '-o, --output <format>',
        'format of the output; by default a table on a terminal, NDJSON otherwise',
      ).choices(outputFormats),
    )
    .addOption(new Option('--json', 'the same as -o json').conflicts('output'))
    .option('-q, --quiet', 'suppress messages other than errors');
}

/** How a command writes its result. */
export interface Screen {
  readonly format: OutputFormat;
  /** Columns of the terminal; infinite if the output is not a terminal. */
  readonly width: number;
  readonly color: boolean;
  readonly isQuiet: boolean;
  /** Writes a part of the result; resolves when it has left the process. Rejects if it is lost. */
  write(part: string | Uint8Array): Promise<void>;
  /** Writes a remark to standard error, unless `--quiet` was given. */
  remark(text: string): void;
}

/** Decides how a command writes its result, from its options and the terminal. */
export function openScreen({ output: format, json, quiet }: OutputOptions, { stdout, stderr }: Output): Screen {
  const isTerminal = stdout.isTTY === true;
  return {
    format: format ?? (json === true ? 'json' : isTerminal ? 'table' : 'ndjson'),
    width: isTerminal ? stdout.columns || 80 : Number.POSITIVE_INFINITY,
    color: wantsColor(isTerminal),
    isQuiet: quiet === true,
    async write(part) {
      stdout.write(part);
      await stdout.taken?.();
    },
    remark(text) {
      if (quiet !== true) stderr.write(`${text}\n`);
    },
  };
}
