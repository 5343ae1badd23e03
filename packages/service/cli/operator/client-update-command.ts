import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  grantTypes,
  scopes as knownScopes,
  type RefreshTokenUse,
  refreshTokenUses,
} from '../../../contract/oauth/grant.ts';
import type { ClientDetails } from '../../../contract/operator/client.ts';
import { UsageError } from '../../../terminal/error.ts';
import { formatFields, formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import type { ClientEdit } from '../../auth/clients/edit-client.ts';
import { addOneClientCommand, type ClientChoice, listOption, withOwnClient } from './client-options.ts';

type UpdateOptions = ClientChoice &
  Omit<ClientEdit, 'refreshTokenUse' | 'rateLimit'> & {
    readonly rateLimit?: number | 'default';
    readonly refreshTokenUse?: RefreshTokenUse | 'default';
  };

export function addClientUpdateCommand(client: Command, output: Output): void {
  addOneClientCommand(client, 'update')
    .description('change a client; omitted options stay unchanged. Changes apply from its next request on')
    .option('--name <name>', 'what people call it; empty to remove the name')
    .addOption(listOption('grants', grantTypes))
    .addOption(listOption('scopes', knownScopes))
    .addOption(
      new Option(
        '--refresh-token-use <use>',
        'rotate: each refresh token is valid once; reuse: it stays valid until it expires; default: the value of REFRESH_TOKEN_USE',
      ).choices([...refreshTokenUses, 'default']),
    )
    .addOption(
      new Option(
        '--rate-limit <n>',
        'maximum requests per minute, 0 for no limit; default: the value of RATE_LIMIT_PER_MINUTE',
      ).argParser(readRateLimit),
    )
    .addOption(
      new Option(
        '--external',
        'make it a client of the external issuer (OIDC_ISSUER); its secrets are deleted, its tokens of this service revoked',
      ).conflicts(['grants', 'refreshTokenUse']),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  subreport client update --client-id acme-reporting --grants client_credentials\n  subreport client update --client-id acme-provisioning --scopes subscription:read,subscription:write\n  subreport client update --client-id acme-reporting --refresh-token-use reuse\n  subreport client update --client-id acme-reporting --rate-limit 600\n  subreport client update --client-id acme-reporting --name "Finance, Acme"\n  subreport client update --client-id acme-portal --external\n\nA former external client has no secret: after --grants, generate one with subreport client rotate.',
    )
    .action(async (options: UpdateOptions) => {
      const { name, grants, scopes, refreshTokenUse: use, rateLimit, external } = options;
      if ([name, grants, scopes, use, rateLimit].every((value) => value === undefined) && external !== true) {
        throw new UsageError(
          'Cannot update the client: at least one of --name, --grants, --scopes, --refresh-token-use, --rate-limit and --external must be given',
        );
      }
      const body = {
        name: name === '' ? null : name,
        grants: grants && [...grants],
        scopes: scopes && [...scopes],
        refresh_token_use: use === 'default' ? null : use,
        rate_limit_per_minute: rateLimit === 'default' ? null : rateLimit,
        external,
      };
      const edited = await withOwnClient(options, (call, params) => call('updateClient', { params, body }));
      writeClient(output, options.json ?? false, edited);
    });
}

const rateLimitMax = 1_000_000;

function readRateLimit(text: string): number | 'default' {
  if (text === 'default') return text;
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= rateLimitMax) return limit;
  throw new InvalidArgumentError(`It must be an integer from 0 to ${rateLimitMax}, or default, such as 600`);
}

export function addClientTokenCommands(client: Command, output: Output): void {
  addSessions(client, output);
  addRevokeTokens(client, output);
}

function addSessions(client: Command, output: Output): void {
  addOneClientCommand(client, 'sessions')
    .description('list the sessions of a client; a session is a refresh token with all tokens that descend from it')
    .addHelpText('after', '\nExample:\n  subreport client sessions --client-id acme-reporting')
    .action(async (options: ClientChoice) => {
      const { data: rows } = await withOwnClient(options, (call, params) => call('listClientSessions', { params }));
      const cells = rows.map((row) => [
        row.session,
        row.scopes.join(','),
        row.started_at ?? '-',
        row.last_used_at,
        String(row.refreshes),
        row.expires_at,
        row.ends_at,
      ]);
      const header = ['SESSION', 'SCOPES', 'STARTED', 'LAST USED', 'REFRESHES', 'EXPIRES', 'ENDS'];
      writeResult(output, options.json ?? false, rows, formatTable(header, cells));
    });
}

function addRevokeTokens(client: Command, output: Output): void {
  addOneClientCommand(client, 'revoke-tokens')
    .description('revoke all current tokens of a client; its secret stays valid, so it can request new ones')
    .option('--session <id>', "revoke only the tokens of one session of 'client sessions'")
    .addHelpText(
      'after',
      '\nExamples:\n  subreport client revoke-tokens --client-id acme-reporting\n  subreport client revoke-tokens --client-id acme-reporting --session 1b0cQwCqv0nN3x7b1cPq9A',
    )
    .action(async (options: ClientChoice & { session?: string }) => {
      const { clientId, session } = options;
      const revoked = await withOwnClient(options, (call, params) =>
        call('revokeClientTokens', { params, body: { session } }),
      );
      writeResult(
        output,
        options.json ?? false,
        revoked,
        session === undefined
          ? `All tokens of the client ${clientId} were revoked. If its secret was leaked, replace it: subreport client rotate`
          : `The tokens of the session ${session} were revoked.`,
      );
    });
}

export function addClientShowCommand(client: Command, output: Output): void {
  addOneClientCommand(client, 'show')
    .description('show a client; secrets are never shown')
    .addHelpText('after', '\nExample:\n  subreport client show --client-id acme-reporting')
    .action(async (options: ClientChoice) => {
      const shown = await withOwnClient(options, (call, params) => call('getClient', { params }));
      writeClient(output, options.json ?? false, shown);
    });
}

function writeClient(output: Output, json: boolean, shown: ClientDetails): void {
  const text = formatFields({
    ...shown,
    grants: shown.grants.join(','),
    scopes: shown.scopes.join(','),
    secrets: shown.secrets
      .map(
        ({ created_at, expires_at }) => `created ${created_at}${expires_at === null ? '' : `, expires ${expires_at}`}`,
      )
      .join('; '),
  });
  writeResult(output, json, shown, text);
}
