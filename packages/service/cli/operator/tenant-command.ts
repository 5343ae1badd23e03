import { type Command, Option } from 'commander';
import type { ServerChoice } from '../../../cli/remote/server.ts';
import type { TenantStorage } from '../../../contract/operator/tenant.ts';
import { UsageError } from '../../../terminal/error.ts';
import { countText, formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import { jsonOption } from './client-options.ts';
import { readMappingFile } from './import-source.ts';
import { outcomeText } from './import-text.ts';
import { addServerOption, listAll, withOperations } from './operator-api.ts';

type JsonOption = ServerChoice & { readonly json?: boolean };

export function addTenantCommand(program: Command, output: Output): void {
  const tenant = program
    .command('tenant')
    .description('create, list and delete tenants (the customers whose subscriptions are reported)');
  addCreate(tenant, output);
  addDelete(tenant, output);
  addList(tenant, output);
  addMapColumns(tenant, output);
  addServerOption(tenant);
}

function addCreate(tenant: Command, output: Output): void {
  tenant
    .command('create')
    .description('create a tenant')
    .argument('[tenant]', 'name of the tenant, 1 to 63 of the characters a-z 0-9 - (default: generated)')
    .addOption(jsonOption())
    .addHelpText('after', '\nExamples:\n  subreport tenant create acme\n  subreport tenant create acme --json')
    .action(async (name: string | undefined, { json = false, ...choice }: JsonOption) => {
      const created = await withOperations(choice, (call) => call('createTenant', { body: { tenant: name } }));
      const why = name === undefined ? ' with a generated name, because none was given' : '';
      const said = `Tenant ${created.tenant} was created${why}. Next: subreport client create --tenant ${created.tenant}`;
      writeResult(output, json, created, said);
    });
}

function addDelete(tenant: Command, output: Output): void {
  tenant
    .command('delete')
    .description(
      'permanently delete a tenant: first its clients, then all its records; run it again if it was interrupted',
    )
    .argument('<tenant>', 'name of the tenant')
    .option('--yes', 'confirm that all data of the tenant is to be deleted')
    .addOption(new Option('--json', 'print {"tenant","deleted","clients","rows"}'))
    .addHelpText('after', '\nExample:\n  subreport tenant delete acme --yes')
    .action(async (name: string, { yes = false, json = false, ...choice }: JsonOption & { yes?: boolean }) => {
      if (!yes) {
        throw new UsageError(
          `Cannot delete the tenant: --yes must be given, as all its records and clients are permanently deleted: current value is '${name}'`,
        );
      }
      const deleted = await withOperations(choice, (call) => call('deleteTenant', { params: { tenant: name } }));
      const said = `Tenant ${name} was deleted: ${deleted.clients} clients, ${deleted.rows} rows.`;
      writeResult(output, json, deleted, said);
    });
}

function addMapColumns(tenant: Command, output: Output): void {
  tenant
    .command('map-columns')
    .description('save a mapping of CSV columns to fields, for imports with --columns saved; a file with {} removes it')
    .argument('<tenant>', 'name of the tenant')
    .argument('<file>', 'JSON, as for import --columns')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport tenant map-columns acme mapping.json')
    .action(async (name: string, file: string, { json = false, ...choice }: JsonOption) => {
      const body = { columns: JSON.stringify(readMappingFile(file)) };
      const saved = await withOperations(choice, (call) => call('saveColumns', { params: { tenant: name }, body }));
      const said =
        saved.columns === null
          ? `Tenant ${name} has no mapping of columns.`
          : `The mapping was saved. Next: subreport import FILE --tenant ${name} --columns saved`;
      writeResult(output, json, saved, said);
    });
}

/** What a tenant uses, and the share of its budget. */
const storageText = ({ total, budget }: TenantStorage): string => {
  const used = `${(total / 2 ** 20).toFixed(1)} MiB`;
  return budget === null ? used : `${used} (${((100 * total) / budget).toFixed(1)} %)`;
};

function addList(tenant: Command, output: Output): void {
  tenant
    .command('list')
    .description('list the tenants with the number of their records')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport tenant list --json')
    .action(async ({ json = false, ...choice }: JsonOption) => {
      const rows = await withOperations(choice, (call) => listAll(call, 'listTenants'));
      const cells = rows.map(
        ({
          tenant: name,
          created_at,
          records,
          revision,
          deleting_since,
          last_import,
          last_good_import_at,
          storage,
        }) => [
          name,
          created_at,
          countText(records),
          deleting_since === null ? String(revision) : `being deleted since ${deleting_since}`,
          last_import === null ? '-' : outcomeText(last_import),
          last_good_import_at ?? '-',
          storage === null ? '-' : storageText(storage),
        ],
      );
      writeResult(
        output,
        json,
        rows,
        formatTable(['TENANT', 'CREATED', 'RECORDS', 'REVISION', 'LAST IMPORT', 'LAST GOOD IMPORT', 'STORAGE'], cells),
      );
    });
}
