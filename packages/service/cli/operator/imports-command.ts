import { Option } from 'commander';
import type { Import } from '../../../contract/operator/import.ts';
import { integerFrom } from '../../../terminal/integer-option.ts';
import type { Output } from '../../../terminal/output.ts';
import { countText, formatFields } from '../../../terminal/output.ts';
import { printableJson } from '../../../terminal/printable.ts';
import { outcomeText } from './import-text.ts';
import { type AddCommand, commandGroup, listCommand, newCommand, operationCommand } from './operation-command.ts';
import { withOperations } from './operator-api.ts';

const limitMax = 1_000;

const byOf = ({ actor }: Import): string => actor.name ?? actor.id;

const list = listCommand({
  name: 'list',
  operation: 'listImports',
  description: 'list imports, the newest first',
  inputs: { tenant: { hint: 'only imports into this tenant' } },
  options: [
    () =>
      new Option('--limit <n>', `maximum number of imports, 1 to ${limitMax}`)
        .argParser(integerFrom(1, limitMax, 20))
        .default(20),
  ],
  examples: ['imports list --tenant acme', 'imports list --result failed --json'],
  what: 'imports',
  columns: {
    ID: 'id',
    STARTED: 'started_at',
    TENANT: 'tenant',
    OUTCOME: outcomeText,
    READ: ({ read }) => countText(read),
    REJECTED: ({ rejected }) => countText(rejected),
    CHANGED: ({ read, inserted, updated, removed }) =>
      read === null ? '-' : countText((inserted ?? 0) + (updated ?? 0) + (removed ?? 0)),
    BY: byOf,
  },
});

const importArgument = { import_id: { argument: '<id>', hint: 'id of the import' } };

const show = operationCommand({
  name: 'show',
  operation: 'getImport',
  description: 'show one import',
  inputs: importArgument,
  examples: ['imports show 01890a5d-ac96-774b-bcce-b302099a8057'],
  text(shown) {
    const { actor, options, result: _, ...members } = shown;
    const by = `${actor.kind} ${byOf(shown)}`;
    const all = { ...members, outcome: outcomeText(shown), by, options: options.join(', ') || null };
    return formatFields(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)));
  },
});

/** Prints the lines of the response. */
const errors: AddCommand = (parent, output: Output) => {
  const { command, read } = newCommand(parent, {
    name: 'errors',
    operation: 'getImportErrors',
    description: 'print the first rejected rows of an import as NDJSON; they quote values of the rows',
    inputs: importArgument,
    examples: ['imports errors 01890a5d-ac96-774b-bcce-b302099a8057'],
  });
  return command.action(async () => {
    const params = { import_id: String((await read()).import_id) };
    const lines = await withOperations(command.opts(), (call) => call('getImportErrors', { params }));
    output.stdout.write(printableJson(lines));
  });
};

export const addImportsCommand = commandGroup('imports', 'show the history of imports, by commands and over HTTP', [
  list,
  show,
  errors,
]);
