import { text as readAll } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ServerChoice, serverOf } from '../../../cli/remote/server.ts';
import {
  defaultScopes,
  type GrantType,
  grantTypes,
  scopes as knownScopes,
  type RefreshTokenUse,
  refreshTokenUses,
  type Scope,
} from '../../../contract/oauth/grant.ts';
import type { CallOperation, OperatorResponse } from '../../../contract/operator/operations.ts';
import { UsageError } from '../../../terminal/error.ts';
import { formatTable, type Output, writeResult } from '../../../terminal/output.ts';
import { readConfig } from '../config.ts';
import {
  addOneClientCommand,
  type ClientChoice,
  clientIdOption,
  jsonOption,
  listOption,
  withOwnClient,
} from './client-options.ts';
import { addClientShowCommand, addClientTokenCommands, addClientUpdateCommand } from './client-update-command.ts';
import { addServerOption, listAll, withOperations } from './operator-api.ts';

/**
 * `subreport client create|list|show|update|rotate|disable|enable|delete|sessions|revoke-tokens`.
 */
export function addClientCommand(program: Command, output: Output): void {
  const client = program.command('client').description('create and manage the clients that may request tokens');
  addCreate(client, output);
  addList(client, output);
  addRotate(client, output);
  for (const each of plainCommands) addPlainCommand(client, output, each);
  addClientShowCommand(client, output);
  addClientUpdateCommand(client, output);
  addClientTokenCommands(client, output);
  addServerOption(client);
}

const tenantOption = () => new Option('--tenant <tenant>', 'the tenant of the client').makeOptionMandatory();
const secretOption = () =>
  new Option('--secret-stdin', 'read the secret from standard input instead of generating one');

interface CreateOptions extends ServerChoice {
  readonly tenant: string;
  readonly clientId?: string;
  readonly name?: string;
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
    .option('--name <name>', 'what people call it, such as "Finance, Acme"')
    .addOption(secretOption())
    .addOption(listOption('grants', grantTypes, ' (default: all)'))
    .addOption(listOption('scopes', knownScopes, ' (default: subscription:read)'))
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
      '\nExamples:\n  subreport client create --tenant acme --json\n  printf %s "$SECRET" | subreport client create --tenant acme --client-id acme-reporting --name "Finance, Acme" --secret-stdin\n  subreport client create --tenant acme --client-id acme-portal --external\n  subreport client create --tenant acme --client-id acme-provisioning --scopes subscription:write',
    )
    .action(async (options: CreateOptions) => {
      if (options.external === true && options.clientId === undefined) {
        throw new UsageError(
          "Cannot create the client: --external requires --client-id, as it appears in the issuer's tokens",
        );
      }
      const body = {
        tenant: options.tenant,
        client_id: options.clientId,
        name: options.name,
        client_secret: options.secretStdin === true ? await readSecret() : undefined,
        grants: options.grants && [...options.grants],
        scopes: options.scopes && [...options.scopes],
        refresh_token_use: options.refreshTokenUse,
        external: options.external,
      };
      const created = await withOperations(options, (call) => call('createClient', { body }));
      writeResult(output, options.json ?? false, created, createdText(options, created));
    });
}

const canRead = ({ grants = grantTypes, scopes = defaultScopes }: CreateOptions): boolean =>
  grants.includes('client_credentials') && scopes.includes('subscription:read');

function loginText(options: CreateOptions, clientId: string): string {
  // the settings of a server are not here
  const url = serverOf(options) === undefined ? readConfig().publicUrl : 'https://…';
  return `\nWith them, its owner can read reports from a terminal:\n  subreport login --url ${url} --client-id ${clientId}`;
}

type Credentials = OperatorResponse<'createClient'>;

function createdText(options: CreateOptions, { client_id, client_secret }: Credentials): string {
  if (client_secret === undefined)
    return `The client ${client_id} was created. Its tokens come from the external issuer.`;
  const text = credentialsText('The client was created', { client_id, client_secret });
  return text + (canRead(options) ? loginText(options, client_id) : '');
}

interface ListOptions extends ServerChoice {
  readonly tenant?: string;
  readonly search?: string;
  readonly json?: boolean;
}

function addList(client: Command, output: Output): void {
  client
    .command('list')
    .description('list the clients of one tenant or of all tenants')
    .option('--tenant <tenant>', 'only clients of this tenant')
    .option('--search <text>', 'only clients whose id begins with this, or whose name contains it')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  subreport client list --tenant acme')
    .action(async ({ tenant, search, json = false, ...choice }: ListOptions) => {
      const rows = await withOperations(choice, (call) => listAll(call, 'listClients', { query: { tenant, search } }));
      const cells = rows.map((row) => [
        row.client_id,
        row.name ?? '-',
        row.tenant,
        row.grants.join(',') || '-',
        String(row.rate_limit_per_minute ?? '-'),
        row.created_at,
        row.last_used_at ?? '-',
        row.disabled_at ?? '-',
      ]);
      writeResult(
        output,
        json,
        rows,
        formatTable(['CLIENT', 'NAME', 'TENANT', 'GRANTS', 'RATE LIMIT', 'CREATED', 'LAST USED', 'DISABLED'], cells),
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
    .addHelpText(
      'after',
      '\nExamples:\n  subreport client rotate --client-id acme-reporting\n  subreport client rotate --client-id acme-reporting --overlap-hours 0',
    )
    .action(async (options: ClientChoice & { secretStdin?: boolean; overlapHours: number; revokeTokens?: boolean }) => {
      const { clientId, overlapHours } = options;
      const body = {
        client_secret: options.secretStdin === true ? await readSecret() : undefined,
        overlap_hours: overlapHours,
        revoke_tokens: options.revokeTokens,
      };
      const rotated = await withOwnClient(options, (call, params) => call('rotateClient', { params, body }));
      writeResult(
        output,
        options.json ?? false,
        rotated,
        credentialsText(`The secret was replaced; the old one expires in ${overlapHours} hours`, rotated) +
          (rotated.disabled
            ? `\nThe client is disabled: enable it with: subreport client enable --client-id ${clientId}`
            : ''),
      );
    });
}

/** The commands that need no further options, and what each did. */
const plainCommands: readonly PlainCommand[] = [
  {
    name: 'disable',
    description: 'disable a client: it gets no new tokens, and its access tokens are rejected within a second',
    run: async (call, params) => {
      await call('disableClient', { params });
      return { ...params, disabled: true };
    },
    said: 'was disabled',
  },
  {
    name: 'enable',
    description: 'enable a disabled client; its earlier tokens stay revoked',
    run: async (call, params) => {
      await call('enableClient', { params });
      return { ...params, enabled: true };
    },
    said: 'is enabled',
  },
  {
    name: 'delete',
    description: 'permanently delete a client with its secrets; its tokens are rejected immediately',
    run: (call, params) => call('deleteClient', { params }),
    said: 'was deleted',
  },
];

interface PlainCommand {
  readonly name: string;
  readonly description: string;
  readonly run: (call: CallOperation, params: { readonly client_id: string }) => Promise<object>;
  readonly said: string;
}

function addPlainCommand(client: Command, output: Output, { name, description, run, said }: PlainCommand): void {
  addOneClientCommand(client, name)
    .description(description)
    .addHelpText('after', `\nExample:\n  subreport client ${name} --client-id acme-reporting`)
    .action(async (options: ClientChoice) => {
      const result = await withOwnClient(options, run);
      writeResult(output, options.json ?? false, result, `The client ${options.clientId} ${said}.`);
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
  if (Number.isNaN(hours)) throw new InvalidArgumentError('It must be a number of hours, such as 24');
  return hours;
}
