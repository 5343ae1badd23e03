import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { NotFound } from '../../client/index.ts';
import { type ListParameter, listedMax, listParameters } from '../../contract/listed-values.ts';
import { filterParameters } from '../../contract/query.ts';
import { fitsText, ruleOf } from '../../contract/schema.ts';
import { UsageError } from '../../terminal/error.ts';
import { countText } from '../../terminal/output.ts';

/** The options `--iccid-file` and the like, each with the path of a file of values. */
type ListedFiles = Readonly<Record<string, unknown>>;

export function addListedFiles(command: Command): Command {
  for (const name of listParameters)
    command.option(
      `--${name}-file <file>`,
      `only subscriptions with any ${name} of a file: one on each line, at most ${listedMax} (- for standard input)`,
    );
  return command;
}

/** The lists of a command, and what is said of each: how many values it has, what was skipped. */
export interface Listed {
  readonly lists: Readonly<Partial<Record<ListParameter, readonly string[]>>>;
  readonly remarks: readonly string[];
}

/**
 * Reads the files of the options. Throws `UsageError` with all faults: values that break the rule
 * of the parameter, by line, and too many or none.
 */
export async function readListedFiles(options: ListedFiles): Promise<Listed> {
  const lists: Partial<Record<ListParameter, readonly string[]>> = {};
  const [remarks, faults]: [string[], string[]] = [[], []];
  const given = listParameters.flatMap((name) => {
    const file = options[`${attributeOf(name)}File`];
    return typeof file === 'string' ? [{ name, file }] : [];
  });
  if (given.filter(({ file }) => file === '-').length > 1)
    faults.push('Cannot read standard input twice: only one of the files may be -');
  for (const { name, file } of faults.length > 0 ? [] : given) {
    if (options[attributeOf(name)] !== undefined)
      faults.push(`Cannot use --${name}-file: it must be given without --${name}`);
    const read = readColumn(name, await readSource(file));
    const { values, blanks, repeated, header } = read;
    faults.push(...read.faults.map((fault) => `Cannot use --${name}-file: ${fault}`));
    lists[name] = values;
    const skipped = [
      ...(header === undefined ? [] : [`the header '${header}'`]),
      ...(blanks === 0 ? [] : [counted(blanks, 'blank line')]),
      ...(repeated === 0 ? [] : [counted(repeated, 'repeated value')]),
    ];
    const without = skipped.length === 0 ? '' : `, without ${skipped.join(', ')}`;
    remarks.push(`--${name}-file: ${counted(values.length, 'value')}${without}`);
  }
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return { lists, remarks };
}

const counted = (count: number, one: string): string => `${countText(count)} ${one}${count === 1 ? '' : 's'}`;

const attributeOf = (name: ListParameter): string => (name === 'device-id' ? 'deviceId' : name);

/** Most bytes of a file, far more than the longest values take. */
const bytesMax = 4 * 2 ** 20;

async function readSource(file: string): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of file === '-' ? process.stdin : createReadStream(file)) {
      bytes += part.length;
      if (bytes > bytesMax) break;
      parts.push(part);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`Cannot read '${file}': it must be a file that this user can read (${code})`);
  }
  if (bytes <= bytesMax) return Buffer.concat(parts).toString('utf8');
  throw new UsageError(`Cannot read '${file}': it must have at most ${countText(bytesMax)} bytes`);
}

interface Column {
  readonly values: readonly string[];
  readonly blanks: number;
  readonly repeated: number;
  readonly header: string | undefined;
  readonly faults: readonly string[];
}

/** Most lines whose faults are listed. */
const faultsMax = 10;

/**
 * Reads a column as a spreadsheet saves it: with a byte order mark, CRLF, quotes, blank lines and a
 * header line, which is the name of the parameter or no valid value. It must be the first line that
 * is not blank.
 */
export function readColumn(name: ListParameter, content: string): Column {
  const values = new Set<string>();
  const invalid: string[] = [];
  let [blanks, repeated] = [0, 0];
  let header: string | undefined;
  const schema = filterParameters[name];
  const lines = content
    .replace(/^\ufeff/, '')
    .replace(/\r?\n?$/, '')
    .split(/\r\n|\n|\r/);
  for (const [at, line] of lines.entries()) {
    const value = unquoted(line.trim());
    const isFirst = values.size === 0 && invalid.length === 0 && header === undefined;
    if (value === '') blanks += 1;
    else if (isFirst && isHeader(name, value)) header = value;
    else if (!fitsText(schema, value))
      invalid.push(`line ${at + 1} must be ${ruleOf(schema)}: current value is '${value.slice(0, 64)}'`);
    else if (values.has(value)) repeated += 1;
    else values.add(value);
  }
  const more = invalid.length - faultsMax;
  const faults = [...invalid.slice(0, faultsMax), ...(more > 0 ? [`${more} more lines are invalid`] : [])];
  if (values.size > listedMax)
    faults.push(`it must have at most ${listedMax} values; split it: current value is ${values.size}`);
  if (values.size === 0 && faults.length === 0) faults.push('it must have a value on a line of its own');
  return { values: [...values], blanks, repeated, header, faults };
}

/** A cell as a spreadsheet or a CSV export writes it: in quotes, or as text after an apostrophe. */
const unquoted = (cell: string): string =>
  (/^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell).replace(/^'(?=[\w=+@-])/, '').trim();

/** Whether a cell names a column: as the parameter, or with a letter where only digits are. */
const isHeader = (name: ListParameter, cell: string): boolean =>
  /^(id|subscription[ _-]?id|device[ _-]?id|device)$/i.test(cell) || (name === 'iccid' && /^\p{L}/u.test(cell));

/** Says which values no record has. */
export const describeNotFound = (notFound: NotFound, { lists }: Listed): readonly string[] =>
  listParameters.flatMap((name) => {
    const [missing = [], asked = []] = [notFound[name], lists[name]];
    if (missing.length === 0) return [];
    return [
      `No subscription has ${countText(missing.length)} of the ${counted(asked.length, 'value')} of --${name}-file:`,
      ...missing.map((value) => `  ${value}`),
    ];
  });
