import { type Command, Option } from 'commander';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import { type Import, importResults } from '../../../contract/operator/import.ts';
import { integerFrom } from '../../../terminal/integer-option.ts';
import { countText, formatFields, formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import { outcomeText } from './import-text.ts';
import { addServerOption, listFirst, noteRest, withOperations } from './operator-api.ts';

interface ListOptions extends ServerChoice {
  readonly tenant?: string;
  readonly result?: Import['result'];
  readonly limit: number;
  readonly json?: boolean;
}

const limitMax = 1_000;

export function addImportsCommand(program: Command, output: Output): void {
  const imports = program.command('imports').description('show the history of imports, by commands and over HTTP');
  addList(imports, output);
  addShow(imports, output);
  addErrors(imports, output);
  addServerOption(imports);
}

function addList(imports: Command, output: Output): void {
  imports
    .command('list')
    .description('list imports, the newest first')
    .option('--tenant <tenant>', 'only imports into this tenant')
    .addOption(new Option('--result <result>', 'only imports with this result').choices(importResults))
    .option('--limit <n>', `maximum number of imports, 1 to ${limitMax}`, integerFrom(1, limitMax, 20), 20)
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport imports list --tenant acme\n  subreport imports list --result failed --json',
    )
    .action(async ({ tenant, result, limit, json = false, ...choice }: ListOptions) => {
      const { items, hasMore } = await withOperations(choice, (call) =>
        listFirst(call, 'listImports', { query: { tenant, result }, max: limit }),
      );
      writeResult(output, json, items, formatTable(header, items.map(toCells)));
      if (hasMore) noteRest(output, 'imports');
    });
}

function addShow(imports: Command, output: Output): void {
  imports
    .command('show')
    .description('show one import')
    .argument('<id>', 'id of the import')
    .option('--json', 'print a JSON object')
    .addHelpText('after', '\nExample:\n  subreport imports show 01890a5d-ac96-774b-bcce-b302099a8057')
    .action(async (id: string, { json = false, ...choice }: ServerChoice & { json?: boolean }) => {
      const shown = await withOperations(choice, (call) => call('getImport', { params: { import_id: id } }));
      writeResult(output, json, shown, toText(shown));
    });
}

function addErrors(imports: Command, output: Output): void {
  imports
    .command('errors')
    .description('print the first rejected rows of an import as NDJSON; they quote values of the rows')
    .argument('<id>', 'id of the import')
    .addHelpText('after', '\nExample:\n  subreport imports errors 01890a5d-ac96-774b-bcce-b302099a8057')
    .action(async (id: string, choice: ServerChoice) => {
      const params = { import_id: id };
      output.stdout.write(await withOperations(choice, (call) => call('getImportErrors', { params })));
    });
}

const header = ['ID', 'STARTED', 'TENANT', 'OUTCOME', 'READ', 'REJECTED', 'CHANGED', 'BY'];

const toCells = (row: Import): string[] => [
  row.id,
  row.started_at,
  row.tenant,
  outcomeText(row),
  countText(row.read),
  countText(row.rejected),
  row.read === null ? '-' : countText((row.inserted ?? 0) + (row.updated ?? 0) + (row.removed ?? 0)),
  row.actor.name ?? row.actor.id,
];

function toText(shown: Import): string {
  const { actor, options, result: _, ...members } = shown;
  const by = `${actor.kind} ${actor.name ?? actor.id}`;
  const all = { ...members, outcome: outcomeText(shown), by, options: options.join(', ') || null };
  return formatFields(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)));
}
