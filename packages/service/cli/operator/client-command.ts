import { Option } from 'commander';
import { serverOf } from '../../../cli/remote/server.ts';
import { defaultScopes, grantTypes } from '../../../contract/oauth/grant.ts';
import type { CallOperation, OperatorResponse } from '../../../contract/operator/operations.ts';
import { UsageError } from '../../../terminal/error.ts';
import { formatFields } from '../../../terminal/output.ts';
import { readConfig } from '../config.ts';
import type { Given } from './inputs.ts';
import { commandGroup, listCommand, type Options, operationCommand } from './operation-command.ts';

const tenantHint = 'the tenant of the client';
const nameHint = 'what people call it, such as "Finance, Acme"';

const create = operationCommand({
  name: 'create',
  operation: 'createClient',
  description: 'create a client and print its credentials once',
  inputs: {
    tenant: { hint: tenantHint },
    name: { hint: nameHint },
    grants: { hint: 'allowed grants (default: all)' },
    scopes: { hint: 'allowed scopes (default: subscription:read)' },
    refresh_token_use: {
      hint: 'rotate: each refresh token is valid once; reuse: it stays valid until it expires (default: REFRESH_TOKEN_USE)',
    },
    external: {
      hint: 'a client of the external issuer (OIDC_ISSUER) with this --client-id; it gets no secret and no tokens from this service',
      conflicts: ['secretStdin', 'grants', 'scopes', 'refreshTokenUse'],
    },
  },
  examples: [
    'client create --tenant acme --json',
    'client create --tenant acme --client-id acme-reporting --name "Finance, Acme" --secret-stdin < secret.txt',
    'client create --tenant acme --client-id acme-portal --external',
    'client create --tenant acme --client-id acme-provisioning --scopes subscription:write',
  ],
  prepare(given) {
    if (given.external !== true || given.client_id !== undefined) return given;
    throw new UsageError(
      "Cannot create the client: --external requires --client-id, as it appears in the issuer's tokens",
    );
  },
  text({ client_id, client_secret }, given, options) {
    if (client_secret === undefined)
      return `The client ${client_id} was created. Its tokens come from the external issuer.`;
    return `${credentialsText('The client was created', { client_id, client_secret })}${loginText(client_id, given, options)}`;
  },
});

const credentialsText = (
  said: string,
  { client_id, client_secret }: { client_id: string; client_secret: string },
): string => `${said}. The secret is shown only now:\n  client_id      ${client_id}\n  client_secret  ${client_secret}`;

/** The next step of a client that can read reports. */
function loginText(
  clientId: string,
  { grants = [...grantTypes], scopes = [...defaultScopes] }: Given<'createClient'>,
  options: Options,
): string {
  if (!grants.includes('client_credentials') || !scopes.includes('subscription:read')) return '';
  // the settings of a server are not here
  const url = serverOf(options) === undefined ? readConfig().publicUrl : 'https://…';
  return `\nWith them, its owner can read reports from a terminal:\n  subreport login --url ${url} --client-id ${clientId}`;
}

const list = listCommand({
  name: 'list',
  operation: 'listClients',
  description: 'list the clients of one tenant or of all tenants',
  inputs: { tenant: { hint: 'only clients of this tenant' } },
  examples: ['client list --tenant acme'],
  columns: {
    CLIENT: 'client_id',
    NAME: 'name',
    TENANT: 'tenant',
    GRANTS: 'grants',
    'RATE LIMIT': 'rate_limit_per_minute',
    CREATED: 'created_at',
    'LAST USED': 'last_used_at',
    DISABLED: 'disabled_at',
  },
});

/** What the commands for one client share: it may be required to belong to a tenant. */
const ofOneClient = {
  options: [() => new Option('--tenant <tenant>', 'require that the client belongs to this tenant')],
  async guard(call: CallOperation, { client_id }: Readonly<Record<string, unknown>>, { tenant }: Options) {
    if (tenant === undefined) return;
    await call('getTenant', { params: { tenant: String(tenant) } });
    const client = await call('getClient', { params: { client_id: String(client_id) } });
    if (client.tenant === tenant) return;
    throw new UsageError(
      `Cannot use the client: it must belong to tenant '${tenant}': current value is '${client_id}'`,
    );
  },
};

const rotate = operationCommand({
  ...ofOneClient,
  name: 'rotate',
  operation: 'rotateClient',
  description: 'generate a new secret for a client and print it once; the old one stays valid for a while',
  inputs: { revoke_tokens: { hint: 'revoke all current tokens of the client' } },
  examples: ['client rotate --client-id acme-reporting', 'client rotate --client-id acme-reporting --overlap-hours 0'],
  text(rotated, { client_id, overlap_hours }) {
    const said = credentialsText(`The secret was replaced; the old one expires in ${overlap_hours} hours`, rotated);
    const next = `\nThe client is disabled: enable it with: subreport client enable --client-id ${client_id}`;
    return rotated.disabled ? said + next : said;
  },
});

const disable = operationCommand({
  ...ofOneClient,
  name: 'disable',
  operation: 'disableClient',
  description: 'disable a client: it gets no new tokens, and its access tokens are rejected within a second',
  examples: ['client disable --client-id acme-reporting'],
  json: ({ client_id }) => ({ client_id, disabled: true }),
  text: ({ client_id }) => `The client ${client_id} was disabled.`,
});

const enable = operationCommand({
  ...ofOneClient,
  name: 'enable',
  operation: 'enableClient',
  description: 'enable a disabled client; its earlier tokens stay revoked',
  examples: ['client enable --client-id acme-reporting'],
  json: ({ client_id }) => ({ client_id, enabled: true }),
  text: ({ client_id }) => `The client ${client_id} is enabled.`,
});

const remove = operationCommand({
  ...ofOneClient,
  name: 'delete',
  operation: 'deleteClient',
  description: 'permanently delete a client with its secrets; its tokens are rejected immediately',
  examples: ['client delete --client-id acme-reporting'],
  text: ({ client_id }) => `The client ${client_id} was deleted.`,
});

const clientText = ({ grants, scopes, secrets, ...client }: OperatorResponse<'getClient'>): string =>
  formatFields({
    ...client,
    grants: grants.join(','),
    scopes: scopes.join(','),
    secrets: secrets
      .map(({ created_at: from, expires_at: to }) => `created ${from}${to === null ? '' : `, expires ${to}`}`)
      .join('; '),
  });

const show = operationCommand({
  ...ofOneClient,
  name: 'show',
  operation: 'getClient',
  description: 'show a client; secrets are never shown',
  examples: ['client show --client-id acme-reporting'],
  text: clientText,
});

const update = operationCommand({
  ...ofOneClient,
  name: 'update',
  operation: 'updateClient',
  description: 'change a client; omitted options stay unchanged. Changes apply from its next request on',
  inputs: {
    name: { hint: 'what people call it; empty to remove the name' },
    grants: { hint: 'allowed grants' },
    scopes: { hint: 'allowed scopes' },
    refresh_token_use: {
      hint: 'rotate: each refresh token is valid once; reuse: it stays valid until it expires; default: the value of REFRESH_TOKEN_USE',
    },
    rate_limit_per_minute: {
      flags: '--rate-limit <n>',
      hint: 'maximum requests per minute, 0 for no limit; default: the value of RATE_LIMIT_PER_MINUTE',
    },
    external: {
      hint: 'make it a client of the external issuer (OIDC_ISSUER); its secrets are deleted, its tokens of this service revoked',
      conflicts: ['grants', 'refreshTokenUse'],
    },
  },
  examples: [
    'client update --client-id acme-reporting --grants client_credentials',
    'client update --client-id acme-provisioning --scopes subscription:read,subscription:write',
    'client update --client-id acme-reporting --refresh-token-use reuse',
    'client update --client-id acme-reporting --rate-limit 600',
    'client update --client-id acme-reporting --name "Finance, Acme"',
    'client update --client-id acme-portal --external',
  ],
  note: 'A former external client has no secret: after --grants, generate one with subreport client rotate.',
  prepare(given) {
    const { client_id: _, ...changes } = given;
    if (Object.values(changes).some((value) => value !== undefined)) return given;
    throw new UsageError(
      'Cannot update the client: at least one of --name, --grants, --scopes, --refresh-token-use, --rate-limit and --external must be given',
    );
  },
  text: clientText,
});

const sessions = listCommand({
  ...ofOneClient,
  name: 'sessions',
  operation: 'listClientSessions',
  description: 'list the sessions of a client; a session is a refresh token with all tokens that descend from it',
  examples: ['client sessions --client-id acme-reporting'],
  columns: {
    SESSION: 'session',
    SCOPES: 'scopes',
    STARTED: 'started_at',
    'LAST USED': 'last_used_at',
    REFRESHES: 'refreshes',
    EXPIRES: 'expires_at',
    ENDS: 'ends_at',
  },
});

const revokeTokens = operationCommand({
  ...ofOneClient,
  name: 'revoke-tokens',
  operation: 'revokeClientTokens',
  description: 'revoke all current tokens of a client; its secret stays valid, so it can request new ones',
  inputs: { session: { flags: '--session <id>', hint: "revoke only the tokens of one session of 'client sessions'" } },
  examples: [
    'client revoke-tokens --client-id acme-reporting',
    'client revoke-tokens --client-id acme-reporting --session 1b0cQwCqv0nN3x7b1cPq9A',
  ],
  text: ({ client_id }, { session }) =>
    session === undefined
      ? `All tokens of the client ${client_id} were revoked. If its secret was leaked, replace it: subreport client rotate`
      : `The tokens of the session ${session} were revoked.`,
});

export const addClientCommand = commandGroup('client', 'create and manage the clients that may request tokens', [
  ...[create, list, rotate, disable, enable, remove],
  ...[show, update, sessions, revokeTokens],
]);
