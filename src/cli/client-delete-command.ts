import type { Command } from 'commander';
import { deleteClientById, enableClientById } from '../auth/edit-client.ts';
import { type ClientChoice, clientIdOption, jsonOption, ownerOption, requireOwnClient } from './client-options.ts';
import { readConfig } from './config.ts';
import { type Output, writeResult } from './output.ts';
import { withStore } from './store-session.ts';

/** `subreport client enable|delete`. */
export function addClientDeleteCommands(client: Command, output: Output): void {
  client
    .command('enable')
    .description('let a disabled client in again; the tokens that it had before stay revoked')
    .addOption(clientIdOption().makeOptionMandatory())
    .addOption(ownerOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client enable --client-id acme-reporting')
    .action(async (options: ClientChoice & { json?: boolean }) => {
      const { clientId } = options;
      const wasDisabled = await withStore(readConfig(), async (store) => {
        await requireOwnClient(store, options);
        return enableClientById(store, clientId);
      });
      const said = wasDisabled ? `The client ${clientId} was enabled.` : `The client ${clientId} was not disabled.`;
      writeResult(output, options.json ?? false, { client_id: clientId, enabled: true }, said);
    });
  client
    .command('delete')
    .description('remove a client for good, with its secrets; its tokens are refused at once')
    .addOption(clientIdOption().makeOptionMandatory())
    .addOption(ownerOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client delete --client-id acme-reporting')
    .action(async (options: ClientChoice & { json?: boolean }) => {
      const { clientId } = options;
      await withStore(readConfig(), async (store) => {
        await requireOwnClient(store, options);
        await deleteClientById(store, clientId);
      });
      const deleted = { client_id: clientId, deleted: true };
      writeResult(output, options.json ?? false, deleted, `The client ${clientId} was deleted.`);
    });
}
