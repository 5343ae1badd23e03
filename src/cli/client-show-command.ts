import type { Command } from 'commander';
import { type DescribedClient, describeClient } from '../auth/edit-client.ts';
import { formatInstant } from '../contract/instant.ts';
import { isExternalClient } from '../storage/tables/client.ts';
import { addOneClientCommand, type ClientChoice, jsonOption, withOwnClient } from './client-options.ts';
import { type Output, writeResult } from './output.ts';
import { nowSeconds } from './store-session.ts';

/** `subreport client show`. */
export function addClientShowCommand(client: Command, output: Output): void {
  addOneClientCommand(client, 'show')
    .description('show a client; secrets are never shown')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client show --client-id acme-reporting')
    .action(async (options: ClientChoice & { json?: boolean }) => {
      const described = await withOwnClient(options, async (store) => {
        return describeClient(store, nowSeconds(), options.clientId);
      });
      writeClient(output, options.json ?? false, described);
    });
}

/** Writes a client as a JSON object, or as one line per property. */
export function writeClient(output: Output, json: boolean, { client, secrets }: DescribedClient): void {
  const timeOf = (seconds: number | null): string | null => (seconds === null ? null : formatInstant(seconds));
  const shown = {
    client_id: client.clientId,
    tenant: client.tenant,
    external: isExternalClient(client),
    grants: client.grants,
    scopes: client.scopes,
    refresh_token_use: client.refreshTokenUse,
    created_at: timeOf(client.createdAt),
    disabled_at: timeOf(client.disabledAt),
    last_used_at: timeOf(client.lastUsedAt),
    tokens_revoked_at: timeOf(client.tokensRevokedAt),
    secrets: secrets.map(({ createdAt, expiresAt }) => ({
      created_at: timeOf(createdAt),
      expires_at: timeOf(expiresAt),
    })),
  };
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
