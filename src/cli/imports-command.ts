import { type Command, InvalidArgumentError, Option } from 'commander';
import { isImportId } from '../import/import-id.ts';
import { findImport, listImports, readImportErrors } from '../import/list-imports.ts';
import { type ShownImport, showImport } from '../import/show-import.ts';
import { requireTenant } from '../operator/tenant.ts';
import type { Store } from '../storage/store.ts';
import { type ImportResult, type ImportRow, importResults } from '../storage/tables/import-history.ts';
import { readConfig } from './config.ts';
import { CommandError, UsageError } from './error.ts';
import { formatTable, type Output, writeResult } from './output.ts';
import { withStore } from './store-session.ts';

interface ListOptions {
  readonly tenant?: string;
  readonly result?: ImportResult;
  readonly before?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const limitMax = 1_000;

/** `subreport imports list|show|errors`. */
export function addImportsCommand(program: Command, output: Output): void {
  const imports = program.command('imports').description('show the history of imports, by commands and over HTTP');
  imports
    .command('list')
    .description('list imports, the newest first')
    .option('--tenant <tenant>', 'only imports into this tenant')
    .addOption(new Option('--result <result>', 'only imports with this result').choices(importResults))
    .option('--limit <n>', `at most this many, 1 to ${limitMax}`, readLimit, 20)
    .option('--before <id>', 'only imports older than this one, such as the last one of a list')
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport imports list --tenant acme\n  subreport imports list --result failed --json',
    )
    .action(async ({ tenant, result, before, limit, json = false }: ListOptions) => {
      if (before !== undefined) requireId(before, '--before');
      const shown = await withStore(readConfig(), async (store) => {
        if (tenant !== undefined) await requireTenant(store, tenant);
        return (await listImports(store, { tenant, result, before }, limit)).map(showImport);
      });
      writeResult(output, json, shown, formatTable(header, shown.map(toCells)));
    });
  imports
    .command('show')
    .description('show one import')
    .argument('<id>', 'id of the import')
    .option('--json', 'print a JSON object')
    .addHelpText('after', '\nExample:\n  subreport imports show 01890a5d-ac96-774b-bcce-b302099a8057')
    .action(async (id: string, { json = false }: { json?: boolean }) => {
      const shown = showImport(await withStore(readConfig(), (store) => requireImport(store, id)));
      writeResult(output, json, shown, describeImport(shown));
    });
  imports
    .command('errors')
    .description('print the first rejected rows of an import as NDJSON; they quote values of the rows')
    .argument('<id>', 'id of the import')
    .addHelpText('after', '\nExample:\n  subreport imports errors 01890a5d-ac96-774b-bcce-b302099a8057')
    .action(async (id: string) => {
      const lines = await withStore(readConfig(), async (store) =>
        readImportErrors(store, await requireImport(store, id)),
      );
      output.stdout.write(lines);
    });
}

async function requireImport(store: Store, id: string): Promise<ImportRow> {
  requireId(id, 'the id');
  const found = await findImport(store, id);
  if (found !== undefined) return found;
  throw new CommandError(
    `Cannot find the import: it must be listed by 'subreport imports list', which drops old ones (IMPORT_HISTORY_DAYS): current value is '${id}'`,
  );
}

function requireId(id: string, what: string): void {
  if (isImportId(id)) return;
  throw new UsageError(
    `Cannot use ${what}: it must be the id of an import, such as 01890a5d-ac96-774b-bcce-b302099a8057: current value is '${id}'`,
  );
}

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax)
    throw new InvalidArgumentError(
      `it must be an integer from 1 to ${limitMax}, such as 20: current value is '${text}'`,
    );
  return limit;
}

const header = ['ID', 'STARTED', 'TENANT', 'RESULT', 'READ', 'REJECTED', 'CHANGED', 'BY'];

const toCells = (each: ShownImport): string[] => [
  each.id,
  each.started_at,
  each.tenant,
  each.options.includes('dry-run') ? `${each.result} (dry run)` : each.result,
  String(each.read ?? '-'),
  String(each.rejected ?? '-'),
  each.read === null ? '-' : String((each.inserted ?? 0) + (each.updated ?? 0) + (each.removed ?? 0)),
  nameActor(each),
];

function nameActor({ actor }: ShownImport): string {
  return 'user' in actor ? actor.user : 'client_id' in actor ? actor.client_id : (actor.name ?? actor.id);
}

/** A line for each member that has a value. */
function describeImport(shown: ShownImport): string {
  const { actor, options, ...rest } = shown;
  const members = { ...rest, by: nameActor(shown), address: 'address' in actor ? actor.address : null };
  const all = { ...members, options: options.length === 0 ? null : options.join(', ') };
  return Object.entries(all)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.padEnd(10)}  ${value}`)
    .join('\n');
}
