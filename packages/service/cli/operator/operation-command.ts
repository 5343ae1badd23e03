import type { Command, Option } from 'commander';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import type { CallOperation, OperatorApiId, OperatorResponse } from '../../../contract/operator/operations.ts';
import { formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import { addInputs, type Given, type InputChanges, inputOf } from './inputs.ts';
import { addServerOption, type Item, type ListId, listFirst, withOperations } from './operator-api.ts';

/** The options of a command by their attributes. */
export type Options = ServerChoice & Readonly<Record<string, unknown>>;

/** What every command of an operation has. Its inputs come from the contract. */
interface CommandRow<Id extends OperatorApiId> {
  readonly name: string;
  readonly operation: Id;
  readonly description: string;
  readonly examples: readonly string[];
  readonly inputs?: InputChanges;
  /** Options besides the inputs. */
  readonly options?: readonly (() => Option)[];
  /** Runs before the operation; rejects if that must not run. */
  readonly guard?: (call: CallOperation, given: Given<Id>, options: Options) => Promise<void>;
}

interface OperationRow<Id extends OperatorApiId> extends CommandRow<Id> {
  /** What follows the examples. */
  readonly note?: string;
  /** Completes the inputs; throws `UsageError` if they contradict each other. */
  readonly prepare?: (given: Given<Id>, options: Options) => Given<Id>;
  /** The result for people. */
  readonly text: (result: OperatorResponse<Id>, given: Given<Id>, options: Options) => string;
  /** The result for machines; that of the operation if absent. */
  readonly json?: (result: OperatorResponse<Id>, given: Given<Id>) => object;
}

/** Adds a command to the program or to a group of commands. */
export type AddCommand = (parent: Command, output: Output) => Command;

/** Makes the command that performs an operation and prints its result. */
export const operationCommand =
  <Id extends OperatorApiId>(row: OperationRow<Id>): AddCommand =>
  (parent, output) => {
    const { operation, guard, prepare = (given) => given, json = (result) => result as object } = row;
    const { command, read } = newCommand(parent, row);
    return command.option('--json', 'print JSON').action(async () => {
      const options: Options = command.opts();
      const given = prepare(await read(), options);
      const result = await withOperations(options, async (call) => {
        await guard?.(call, given, options);
        return call(operation, inputOf(operation, given));
      });
      writeResult(output, options.json === true, json(result, given), row.text(result, given, options));
    });
  };

/** The columns of a table by their headings: members of an item, or what functions return. */
export type Columns<T> = Readonly<Record<string, (keyof T & string) | ((item: T) => string)>>;

interface ListRow<Id extends ListId> extends CommandRow<Id> {
  readonly columns: Columns<Item<Id>>;
  /** What the items are, if `--limit` is among the options. */
  readonly what?: string;
}

/** Makes the command that prints a list. */
export const listCommand =
  <Id extends ListId>(row: ListRow<Id>): AddCommand =>
  (parent, output) => {
    const { command, read } = newCommand(parent, { ...row, inputs: { limit: null, cursor: null, ...row.inputs } });
    return command.option('--json', 'print a JSON array').action(async () => {
      const options: Options & { readonly limit?: number } = command.opts();
      const given = await read();
      await withOperations(options, async (call) => {
        await row.guard?.(call, given, options);
        await writeList(call, row, given, options, output);
      });
    });
  };

export async function writeList<Id extends ListId>(
  call: CallOperation,
  { operation, columns, what }: Pick<ListRow<Id>, 'operation' | 'columns' | 'what'>,
  given: Given<Id>,
  { limit, json }: { readonly limit?: number; readonly json?: unknown },
  output: Output,
): Promise<void> {
  const { items, hasMore } = await listFirst(call, operation, { ...inputOf(operation, given), max: limit });
  const cells = items.map((item) => cellsOf(columns, item));
  writeResult(output, json === true, items, formatTable(Object.keys(columns), cells));
  if (hasMore) output.stderr.write(`Older ${what} are not listed: use a larger --limit\n`);
}

export const cellsOf = <T>(columns: Columns<T>, item: T): string[] =>
  Object.values(columns).map((cell) => (typeof cell === 'function' ? cell(item) : cellText(item[cell])));

function cellText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = Array.isArray(value) ? value.join(',') : String(value ?? '');
  return text === '' ? '-' : text;
}

/** Adds a command with the inputs of its operation. */
export function newCommand<Id extends OperatorApiId>(
  parent: Command,
  { name, operation, description, examples, note, inputs, options = [] }: CommandRow<Id> & { readonly note?: string },
): { readonly command: Command; readonly read: () => Promise<Given<Id>> } {
  const command = parent.command(name).description(description);
  const read = addInputs(command, operation, inputs);
  for (const option of options) command.addOption(option());
  const lines = examples.map((example) => `\n  subreport ${example}`).join('');
  const heading = examples.length === 1 ? 'Example' : 'Examples';
  command.addHelpText('after', `\n${heading}:${lines}${note === undefined ? '' : `\n\n${note}`}`);
  return { command, read };
}

/** Makes a group of commands. */
export const commandGroup =
  (name: string, description: string, commands: readonly AddCommand[]) =>
  (program: Command, output: Output): void => {
    const group = program.command(name).description(description);
    for (const add of commands) add(group, output);
    addServerOption(group);
  };
