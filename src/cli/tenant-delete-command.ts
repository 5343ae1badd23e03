import type { Command } from 'commander';
import { deleteTenant } from '../import/delete-tenant.ts';
import { findDeletableTenant } from '../storage/tables/delete-tenant.ts';
import { readConfig } from './config.ts';
import { UsageError } from './error.ts';
import { type Output, writeResult } from './output.ts';
import { nowSeconds, requireTenant, withStore } from './store-session.ts';

/** `subreport tenant delete`. */
export function addTenantDeleteCommand(tenant: Command, output: Output): void {
  tenant
    .command('delete')
    .description(
      'permanently delete a tenant: first its clients, then all its records; run it again if it was interrupted',
    )
    .argument('<tenant>', 'name of the tenant')
    .option('--yes', 'confirm that all data of the tenant is to be deleted')
    .option('--json', 'print {"tenant","deleted","clients","rows"}')
    .addHelpText('after', '\nExample:\n  subreport tenant delete acme --yes')
    .action(async (name: string, { yes = false, json = false }: { yes?: boolean; json?: boolean }) => {
      if (!yes) {
        throw new UsageError(
          `Cannot delete the tenant: --yes must be given, as all its records and clients are permanently deleted: current value is '${name}'`,
        );
      }
      const { clients, rows } = await withStore(readConfig(), async (store) =>
        deleteTenant(store, (await findDeletableTenant(store, name)) ?? (await requireTenant(store, name)), nowSeconds),
      );
      writeResult(
        output,
        json,
        { tenant: name, deleted: true, clients, rows },
        `Tenant ${name} was deleted: ${clients} clients, ${rows} rows.`,
      );
    });
}
