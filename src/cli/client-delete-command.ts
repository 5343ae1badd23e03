import type { Command } from 'commander';
import { addOneClientCommand, type ClientChoice, jsonOption, withOwnClient } from './client-options.ts';
import { type Output, writeResult } from './output.ts';

/** `subreport client enable|delete`. */
export function addClientDeleteCommands(client: Command, output: Output): void {
  addOneClientCommand(client, 'enable')
    .description('enable a disabled client; its earlier tokens stay revoked')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client enable --client-id acme-reporting')
    .action(async (options: ClientChoice) => {
      const { clientId } = options;
      await withOwnClient(options, (call, params) => call('enableClient', { params }));
      const said = `The client ${clientId} is enabled.`;
      writeResult(output, options.json ?? false, { client_id: clientId, enabled: true }, said);
    });
  addOneClientCommand(client, 'delete')
    .description('permanently delete a client with its secrets; its tokens are rejected immediately')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client delete --client-id acme-reporting')
    .action(async (options: ClientChoice) => {
      const { clientId } = options;
      const deleted = await withOwnClient(options, (call, params) => call('deleteClient', { params }));
      writeResult(output, options.json ?? false, deleted, `The client ${clientId} was deleted.`);
    });
}
