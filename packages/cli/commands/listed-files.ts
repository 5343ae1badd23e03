import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { NotFound } from '../../client/index.ts';
import { type ListParameter, listedMax, listParameters } from '../../contract/listed-values.ts';
import { readColumn } from '../../contract/read-column.ts';
import { readFailure, UsageError } from '../../terminal/error.ts';
import { counted, countText } from '../../terminal/output.ts';
import type { Screen } from './record-writer.ts';

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
    const { values, repeated, header, faults: found } = readColumn(name, await readSource(file));
    faults.push(...found.map((fault) => `Cannot use --${name}-file: ${fault}`));
    lists[name] = values;
    const skipped = [
      ...(header === undefined ? [] : [`the header '${header}'`]),
      ...(repeated === 0 ? [] : [counted(repeated, 'repeated value')]),
    ];
    const without = skipped.length === 0 ? '' : `, without ${skipped.join(', ')}`;
    remarks.push(`--${name}-file: ${counted(values.length, nouns[name])}${without}`);
  }
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  return { lists, remarks };
}

const attributeOf = (name: ListParameter): string => (name === 'device-id' ? 'deviceId' : name);

/** What the values of a list are. */
const nouns = { id: 'id', iccid: 'ICCID', 'device-id': 'device id' } as const;

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
    throw readFailure(file, error);
  }
  if (bytes <= bytesMax) return Buffer.concat(parts).toString('utf8');
  throw new UsageError(`Cannot read '${file}': it must have at most ${countText(bytesMax)} bytes`);
}

/** Says why a report may be empty, and which values of the lists no record has. */
export function sayNotFound(
  screen: Screen,
  { explanation, notFound }: { readonly explanation?: string | undefined; readonly notFound: NotFound },
  { lists }: Listed,
): void {
  if (explanation !== undefined) screen.remark(explanation);
  for (const name of listParameters) {
    const [missing = [], asked = []] = [notFound[name], lists[name]];
    if (missing.length === 0) continue;
    const known = `${counted(asked.length, nouns[name])}, ${countText(missing.length)} unknown`;
    screen.remark([`--${name}-file: ${known}:`, ...missing].join('\n  '));
  }
}
