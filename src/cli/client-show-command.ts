import type { Command } from 'commander';
import type { ClientDetails } from '../contract/operator-client.ts';
import { addOneClientCommand, type ClientChoice, jsonOption, withOwnClient } from './client-options.ts';
import { type Output, writeResult } from './output.ts';

/** `subreport client show`. */
export function addClientShowCommand(client: Command, output: Output): void {
  addOneClientCommand(client, 'show')
    .description('show a client; secrets are never shown')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client show --client-id acme-reporting')
    .action(async (options: ClientChoice) => {
      const shown = await withOwnClient(options, (call, params) => call('getClient', { params }));
      writeClient(output, options.json ?? false, shown);
    });
}

/** Writes a client as a JSON object, or as one line per property. */
export function writeClient(output: Output, json: boolean, shown: ClientDetails): void {
  const lines = Object.entries({
    ...shown,
    grants: shown.grants.join(','),
    scopes: shown.scopes.join(','),
    secrets: shown.secrets
      .map(({ created_at, expires_at }) => `made ${created_at}${expires_at === null ? '' : `, ends ${expires_at}`}`)
      .join('; '),
  }).map(([name, value]) => `${name.padEnd(18)} ${value === null || value === '' ? '-' : value}`);
  writeResult(output, json, shown, lines.join('\n'));
}
