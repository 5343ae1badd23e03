import type { Command } from 'commander';
import { deleteClient, enableClient } from '../operator/clients.ts';
import { addOneClientCommand, type ClientChoice, jsonOption, withOwnClient } from './client-options.ts';
import { type Output, writeResult } from './output.ts';

/** `subreport client enable|delete`. */
export function addClientDeleteCommands(client: Command, output: Output): void {
  addOneClientCommand(client, 'enable')
    .description('enable a disabled client; its earlier tokens stay revoked')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client enable --client-id acme-reporting')
    .action(async (options: ClientChoice & { json?: boolean }) => {
      const { clientId } = options;
      const { wasDisabled } = await withOwnClient(options, (context) => enableClient(context, clientId));
      const said = wasDisabled ? `The client ${clientId} was enabled.` : `The client ${clientId} was not disabled.`;
      writeResult(output, options.json ?? false, { client_id: clientId, enabled: true }, said);
    });
  addOneClientCommand(client, 'delete')
    .description('permanently delete a client with its secrets; its tokens are rejected immediately')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client delete --client-id acme-reporting')
    .action(async (options: ClientChoice & { json?: boolean }) => {
      const { clientId } = options;
      await withOwnClient(options, (context) => deleteClient(context, clientId));
      const deleted = { client_id: clientId, deleted: true };
      writeResult(output, options.json ?? false, deleted, `The client ${clientId} was deleted.`);
    });
}
