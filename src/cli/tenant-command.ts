import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { formatInstant } from '../contract/instant.ts';
import { insertTenant, listTenants } from '../storage/tables/tenant.ts';
import { readConfig } from './config.ts';
import { CommandError, UsageError } from './error.ts';
import { formatTable, type Output, writeResult } from './output.ts';
import { nowSeconds, withStore } from './store-session.ts';
import { addTenantDeleteCommand } from './tenant-delete-command.ts';

const tenantForm = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** `subreport tenant create|list|delete`. */
export function addTenantCommand(program: Command, output: Output): void {
  const tenant = program
    .command('tenant')
    .description('create, list and delete tenants (the customers whose subscriptions are reported)');
  tenant
    .command('create')
    .description('create a tenant')
    .argument('[tenant]', 'name of the tenant, 1 to 63 of the characters a-z 0-9 - (default: generated)')
    .option('--json', 'print {"tenant"}')
    .addHelpText('after', '\nExamples:\n  subreport tenant create acme\n  subreport tenant create acme --json')
    .action(async (name: string | undefined, { json = false }: { json?: boolean }) => {
      const id = name ?? `tenant-${randomBytes(6).toString('hex')}`;
      if (!tenantForm.test(id)) {
        throw new UsageError(
          `Cannot create the tenant: its name must be 1 to 63 of the characters a-z 0-9 -, starting with a letter or digit, such as acme: current value is '${id}'`,
        );
      }
      const created = await withStore(readConfig(), (store) => insertTenant(store, id, nowSeconds()));
      if (!created)
        throw new CommandError(`Cannot create the tenant: its name must not be in use: current value is '${id}'`);
      writeResult(
        output,
        json,
        { tenant: id },
        `Tenant ${id} was created. Next: subreport client create --tenant ${id}`,
      );
    });
  addTenantDeleteCommand(tenant, output);
  tenant
    .command('list')
    .description('list the tenants')
    .option('--json', 'print a JSON array')
    .addHelpText('after', '\nExample:\n  subreport tenant list --json')
    .action(async ({ json = false }: { json?: boolean }) => {
      const tenants = await withStore(readConfig(), listTenants);
      const rows = tenants.map((each) => ({
        tenant: each.tenant,
        created_at: formatInstant(each.createdAt),
        revision: each.revision,
        ...(each.deletingSince !== null && { deleting_since: formatInstant(each.deletingSince) }),
      }));
      writeResult(
        output,
        json,
        rows,
        formatTable(
          ['TENANT', 'CREATED', 'REVISION'],
          rows.map((row) => [
            row.tenant,
            row.created_at,
            row.deleting_since === undefined ? String(row.revision) : `being deleted since ${row.deleting_since}`,
          ]),
        ),
      );
    });
}
