import { type Command, Option } from 'commander';
import { describeTenant } from '../operator/describe-tenant.ts';
import { type CountedTenant, createTenant, deleteTenant, listTenants } from '../operator/tenants.ts';
import { jsonOption } from './client-options.ts';
import { withOperator } from './command-context.ts';
import { readConfig } from './config.ts';
import { UsageError } from './error.ts';
import { listAll } from './list-all.ts';
import { formatTable, type Output, writeResult } from './output.ts';

/** `subreport tenant create|list|delete`. */
export function addTenantCommand(program: Command, output: Output): void {
  const tenant = program
    .command('tenant')
    .description('create, list and delete tenants (the customers whose subscriptions are reported)');
  addCreate(tenant, output);
  addDelete(tenant, output);
  addList(tenant, output);
}

function addCreate(tenant: Command, output: Output): void {
  tenant
    .command('create')
    .description('create a tenant')
    .argument('[tenant]', 'name of the tenant, 1 to 63 of the characters a-z 0-9 - (default: generated)')
    .addOption(jsonOption())
    .addHelpText('after', '\nExamples:\n  subreport tenant create acme\n  subreport tenant create acme --json')
    .action(async (name: string | undefined, { json = false }: { json?: boolean }) => {
      const created = await withOperator(readConfig(), (context) => createTenant(context, name));
      const said = `Tenant ${created.tenant} was created. Next: subreport client create --tenant ${created.tenant}`;
      writeResult(output, json, describeTenant(created), said);
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
    .action(async (name: string, { yes = false, json = false }: { yes?: boolean; json?: boolean }) => {
      if (!yes) {
        throw new UsageError(
          `Cannot delete the tenant: --yes must be given, as all its records and clients are permanently deleted: current value is '${name}'`,
        );
      }
      const deleted = await withOperator(readConfig(), (context) => deleteTenant(context, name));
      const said = `Tenant ${name} was deleted: ${deleted.clients} clients, ${deleted.rows} rows.`;
      writeResult(output, json, deleted, said);
    });
}

function addList(tenant: Command, output: Output): void {
  tenant
    .command('list')
    .description('list the tenants with the number of their records')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport tenant list --json')
    .action(async ({ json = false }: { json?: boolean }) => {
      const tenants = await withOperator(readConfig(), (context) =>
        listAll<CountedTenant>((last, limit) => listTenants(context, last?.tenant ?? '', limit)),
      );
      const rows = tenants.map(describeTenant);
      const cells = rows.map(
        ({ tenant: name, created_at, records, revision, deleting_since, last_import_result, last_good_import_at }) => [
          name,
          created_at,
          String(records),
          deleting_since === null ? String(revision) : `being deleted since ${deleting_since}`,
          last_import_result ?? '-',
          last_good_import_at ?? '-',
        ],
      );
      writeResult(
        output,
        json,
        rows,
        formatTable(['TENANT', 'CREATED', 'RECORDS', 'REVISION', 'LAST IMPORT', 'LAST GOOD IMPORT'], cells),
      );
    });
}
