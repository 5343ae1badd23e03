import { fstatSync, writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { CommandError } from './error.ts';
import { printable, printableJson, printableText } from './printable.ts';

/** The output of a command; tests pass their own. */
export interface Output {
  readonly stdout: {
    write(text: string | Uint8Array): unknown;
    /** Resolves when all that was written has left the process. Rejects if a part of it is lost. */
    taken?(): Promise<void>;
    readonly isTTY?: boolean;
    /** The width of the terminal. */
    readonly columns?: number;
  };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
}

/** Writes the result of a command: one line of JSON, or text. */
export function writeResult(output: Output, json: boolean, value: unknown, human: string): void {
  output.stdout.write(json ? `${printableJson(JSON.stringify(value))}\n` : `${printableText(human)}\n`);
}

/** Formats rows as a table whose columns are as wide as their widest cell. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows.map((row) => row.map(printable))];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const padded = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return padded.map((cells) => cells.join('  ').trimEnd()).join('\n');
}

/** A number as all commands write it for people: `300,000`; `-` if it is not known. */
export const countText = (count: number | null): string => count?.toLocaleString('en') ?? '-';

/** A number with its noun: `1 record`, `2,000 records`. */
export const counted = (count: number, one: string): string => `${countText(count)} ${one}${count === 1 ? '' : 's'}`;

/** Formats names and values, one pair per line; a missing value is `-`. */
export function formatFields(fields: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${value == null || value === '' ? '-' : printable(String(value))}`)
    .join('\n');
}

/** Commands that change nothing in the store, and stop when nobody reads their output. */
const streaming = ['generate', 'list', 'show', 'export', 'summary', 'changes', 'whoami', 'token'];

/** The first error of standard output: what was written since is lost. */
let lost: NodeJS.ErrnoException | undefined;

/**
 * Prevents an error of standard output from stopping the process before the command has finished.
 * If the reader closes the pipe (`EPIPE`, as with `| head`), the command keeps its exit code. For
 * any other error, the result is lost: prints a message and exits with 1 instead of 0. `serve`
 * writes its log separately.
 */
export function watchStandardOutput(command: string | undefined): void {
  if (command === 'serve') return void process.stdout.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    lost ??= error;
    if (command !== undefined && streaming.includes(command)) process.exit();
  });
  process.on('exit', (code) => {
    if (lost === undefined || lost.code === 'EPIPE' || isSaid) return;
    if (code === 0) process.exitCode = 1;
    try {
      writeSync(2, `${sentenceOf(lost)}\n`);
    } catch {
      // standard error is closed as well
    }
  });
}

const sentenceOf = ({ code }: NodeJS.ErrnoException): string =>
  `Cannot write the result: standard output must take all of it (${code})`;

/** Whether a command has failed with that sentence. */
let isSaid = false;

/**
 * Standard output for commands: writes all of the string or throws. Node's own stream treats a
 * partial write to a full disk as complete.
 */
export const standardOutput = {
  get isTTY(): boolean {
    return process.stdout.isTTY === true;
  },
  get columns(): number {
    return process.stdout.columns;
  },
  write(text: string | Uint8Array): boolean {
    if (!fstatSync(1).isFile()) return process.stdout.write(text);
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
    } catch (error) {
      process.stdout.emit('error', error);
    }
    return true;
  },
  async taken(): Promise<void> {
    await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
    await turn(); // an error of a pipe follows its callback
    if (lost === undefined) return;
    isSaid = true;
    throw new CommandError(sentenceOf(lost));
  },
};
