import { type Command, Option } from 'commander';
import type { Output } from '../output.ts';
import { wantsColor } from './environment.ts';

/** The formats of the output. */
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
  /** Writes a part of the result; resolves when the stream accepts more. */
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
      if (stdout.write(part) === false) await new Promise((resolve) => process.stdout.once('drain', resolve));
    },
    remark(text) {
      if (quiet !== true) stderr.write(`${text}\n`);
    },
  };
}
