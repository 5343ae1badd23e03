import { text as readAll } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createClient, createExternalClient, disableClientById, rotateClientSecret } from '../auth/manage-clients.ts';
import { revokeTokens } from '../auth/revoke-client-tokens.ts';
import { type GrantType, grantTypes, type RefreshTokenUse, refreshTokenUses } from '../contract/grant.ts';
import { formatInstant } from '../contract/instant.ts';
import { defaultScopes, scopes as knownScopes, type Scope } from '../contract/scope.ts';
import { findClient, listClients } from '../storage/tables/client.ts';
import { addClientDeleteCommands } from './client-delete-command.ts';
import { addOneClientCommand, clientIdOption, jsonOption, parseList, withOwnClient } from './client-options.ts';
import { addClientShowCommand } from './client-show-command.ts';
import { addClientTokenCommands } from './client-tokens-command.ts';
import { addClientUpdateCommand } from './client-update-command.ts';
import { type Config, readConfig } from './config.ts';
import { UsageError } from './error.ts';
import { formatTable, type Output, writeResult } from './output.ts';
import { nowSeconds, requireTenant, withStore } from './store-session.ts';

const daySeconds = 86_400;

/**
 * `subreport client create|list|show|update|rotate|disable|enable|delete|sessions|revoke-tokens`.
 */
export function addClientCommand(program: Command, output: Output): void {
  const client = program.command('client').description('create and manage the clients that may request tokens');
  addCreate(client, output);
  addList(client, output);
  addRotate(client, output);
  addDisable(client, output);
  addClientShowCommand(client, output);
  addClientUpdateCommand(client, output);
  addClientDeleteCommands(client, output);
  addClientTokenCommands(client, output);
}

const tenantOption = () => new Option('--tenant <tenant>', 'the tenant of the client').makeOptionMandatory();
const secretOption = () =>
  new Option('--secret-stdin', 'read the secret from standard input instead of generating one');

interface CreateOptions {
  readonly tenant: string;
  readonly clientId?: string;
  readonly secretStdin?: boolean;
  readonly grants?: readonly GrantType[];
  readonly scopes?: readonly Scope[];
  readonly refreshTokenUse?: RefreshTokenUse;
  readonly external?: boolean;
  readonly json?: boolean;
}

function addCreate(client: Command, output: Output): void {
  client
    .command('create')
    .description('create a client and print its credentials once')
    .addOption(tenantOption())
    .addOption(clientIdOption())
    .addOption(secretOption())
    .addOption(
      new Option(
        '--grants <list>',
        `allowed grants, separated by commas: ${grantTypes.join(',')} (default: all)`,
      ).argParser((list: string) => parseList(list, grantTypes)),
    )
    .addOption(
      new Option(
        '--scopes <list>',
        `allowed scopes, separated by commas: ${knownScopes.join(',')} (default: subscription:read)`,
      ).argParser((list: string) => parseList(list, knownScopes)),
    )
    .addOption(
      new Option(
        '--refresh-token-use <use>',
        'rotate: each refresh token is valid once; reuse: it stays valid until it expires (default: REFRESH_TOKEN_USE)',
      ).choices(refreshTokenUses),
    )
    .addOption(
      new Option(
        '--external',
        'a client of the external issuer (OIDC_ISSUER) with this --client-id; it gets no secret and no tokens from this service',
      ).conflicts(['secretStdin', 'grants', 'scopes', 'refreshTokenUse']),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  subreport client create --tenant acme --json\n  printf %s "$SECRET" | subreport client create --tenant acme --client-id acme-reporting --secret-stdin\n  subreport client create --tenant acme --client-id acme-portal --external\n  subreport client create --tenant acme --client-id acme-provisioning --scopes subscription:write',
    )
    .action(async (options: CreateOptions) => {
      const { tenant, clientId, secretStdin, grants, scopes, refreshTokenUse, external, json = false } = options;
      if (external === true) {
        await createExternal(options, output);
        return;
      }
      const secret = secretStdin === true ? await readSecret() : undefined;
      const config = readConfig();
      const created = await withStore(config, async (store) =>
        createClient(store, nowSeconds(), {
          tenant: await requireTenant(store, tenant),
          ...(clientId !== undefined && { clientId }),
          ...(secret !== undefined && { secret }),
          ...(grants !== undefined && { grants }),
          ...(scopes !== undefined && { scopes }),
          ...(refreshTokenUse !== undefined && { refreshTokenUse }),
        }),
      );
      const text = credentialsText('The client was created', created);
      writeResult(output, json, created, text + (canRead(options) ? loginText(config, created.client_id) : ''));
    });
}

const canRead = ({ grants = grantTypes, scopes = defaultScopes }: CreateOptions): boolean =>
  grants.includes('client_credentials') && scopes.includes('subscription:read');

const loginText = ({ publicUrl }: Config, clientId: string): string =>
  `\nWith them, its owner can read reports from a terminal:\n  subreport login --url ${publicUrl} --client-id ${clientId}`;

async function createExternal({ tenant, clientId, json = false }: CreateOptions, output: Output): Promise<void> {
  if (clientId === undefined) {
    throw new UsageError(
      "Cannot create the client: --external requires --client-id, as it appears in the issuer's tokens",
    );
  }
  const created = await withStore(readConfig(), async (store) =>
    createExternalClient(store, nowSeconds(), { tenant: await requireTenant(store, tenant), clientId }),
  );
  writeResult(output, json, created, `The client ${clientId} was created. Its tokens come from the external issuer.`);
}

function addList(client: Command, output: Output): void {
  client
    .command('list')
    .description('list the clients of one tenant or of all tenants')
    .option('--tenant <tenant>', 'only clients of this tenant')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client list --tenant acme')
    .action(async ({ tenant, json = false }: { tenant?: string; json?: boolean }) => {
      const clients = await withStore(readConfig(), async (store) =>
        listClients(store, tenant === undefined ? undefined : await requireTenant(store, tenant)),
      );
      const rows = clients.map((each) => ({
        client_id: each.clientId,
        tenant: each.tenant,
        grants: each.grants,
        scopes: each.scopes,
        created_at: formatInstant(each.createdAt),
        disabled_at: each.disabledAt === null ? null : formatInstant(each.disabledAt),
        last_used_at: each.lastUsedAt === null ? null : formatInstant(each.lastUsedAt),
      }));
      const cells = rows.map((row) => [
        row.client_id,
        row.tenant,
        row.grants.join(',') || '-',
        row.created_at,
        row.last_used_at ?? '-',
        row.disabled_at ?? '-',
      ]);
      writeResult(
        output,
        json,
        rows,
        formatTable(['CLIENT', 'TENANT', 'GRANTS', 'CREATED', 'LAST USED', 'DISABLED'], cells),
      );
    });
}

function addRotate(client: Command, output: Output): void {
  addOneClientCommand(client, 'rotate')
    .description('generate a new secret for a client and print it once; the old one stays valid for a while')
    .addOption(secretOption())
    .option(
      '--overlap-hours <hours>',
      'hours for which the old secret stays valid; 0 revokes it immediately',
      parseHours,
      24,
    )
    .option('--revoke-tokens', 'revoke all current tokens of the client')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  subreport client rotate --client-id acme-reporting\n  subreport client rotate --client-id acme-reporting --overlap-hours 0',
    )
    .action(
      async (options: {
        clientId: string;
        tenant?: string;
        secretStdin?: boolean;
        overlapHours: number;
        revokeTokens?: boolean;
        json?: boolean;
      }) => {
        const secret = options.secretStdin === true ? await readSecret() : undefined;
        const { credentials: rotated, disabled } = await withOwnClient(options, async (store) => {
          const credentials = await rotateClientSecret(store, nowSeconds(), options.clientId, {
            overlapSeconds: Math.round((options.overlapHours * daySeconds) / 24),
            ...(secret !== undefined && { secret }),
          });
          if (options.revokeTokens === true) await revokeTokens(store, nowSeconds(), options.clientId);
          return { credentials, disabled: (await findClient(store, options.clientId))?.disabledAt !== null };
        });
        writeResult(
          output,
          options.json ?? false,
          { ...rotated, ...(disabled && { disabled }) },
          credentialsText(`The secret was replaced; the old one expires in ${options.overlapHours} hours`, rotated) +
            (disabled
              ? `\nThe client is disabled: enable it with: subreport client enable --client-id ${options.clientId}`
              : ''),
        );
      },
    );
}

function addDisable(client: Command, output: Output): void {
  addOneClientCommand(client, 'disable')
    .description('disable a client: it gets no new tokens, and its access tokens are rejected within a second')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client disable --client-id acme-reporting')
    .action(async (options: { clientId: string; tenant?: string; json?: boolean }) => {
      await withOwnClient(options, async (store) => {
        await disableClientById(store, nowSeconds(), options.clientId);
      });
      writeResult(
        output,
        options.json ?? false,
        { client_id: options.clientId, disabled: true },
        `The client ${options.clientId} was disabled.`,
      );
    });
}

const credentialsText = (
  said: string,
  { client_id, client_secret }: { client_id: string; client_secret: string },
): string => `${said}. The secret is shown only now:\n  client_id      ${client_id}\n  client_secret  ${client_secret}`;

async function readSecret(): Promise<string> {
  return (await readAll(process.stdin)).replace(/\r?\n$/, '');
}

function parseHours(text: string): number {
  const hours = /^\d{1,4}(\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(hours))
    throw new InvalidArgumentError(`it must be a number of hours, such as 24: current value is '${text}'`);
  return hours;
}
