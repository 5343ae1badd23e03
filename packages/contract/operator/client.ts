import type { Static } from 'typebox';
import { grantTypes, scopes as knownScopes, refreshTokenUses } from '../oauth/grant.ts';
import { closed, plain, plainText, printable, printableAscii, wholeNumber } from '../schema.ts';
import { Type } from '../type.ts';
import { listOf, listParameters, nullableTime, orNull, tenantText, time, word, wordsOf } from './operation.ts';

const clientId = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]{1,255}$',
  description: 'Id of the client',
  'x-rule': '1 to 255 printable characters without spaces',
  examples: ['acme-reporting'],
});

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: plainText,
  description: 'What people call the client',
  'x-rule': '1 to 100 characters, none of them a control character',
  examples: ['Finance, Acme'],
});

const nullableName = orNull(name, 'What people call the client; null if it has no name');

const search = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: plainText,
  description: 'Only clients whose id begins with this, or whose name contains it, in any case of A to Z',
  'x-rule': '1 to 255 characters',
  examples: ['fin'],
});

const tenant = tenantText('The tenant of the client');

const grants = wordsOf(grantTypes, 'grants', 'The grants that it may use', grantTypes);

const scopes = wordsOf(knownScopes, 'scopes', 'The scopes that it may have', ['subscription:read']);

const secret = Type.String({
  minLength: 1,
  maxLength: 512,
  pattern: printableAscii,
  description: 'An existing secret of the client; absent to generate one',
  'x-rule': '16 to 512 printable ASCII characters that are hard to guess',
  'x-secret': true,
  examples: ['kV2-Zq8.tYw4_Nf7~bR1xJ'],
});

const refreshTokenUse = word(
  refreshTokenUses,
  'rotate: each refresh token is valid once; reuse: it stays valid until it expires',
);

const nullableUse = orNull(
  refreshTokenUse,
  'What happens to a used refresh token; null for the setting of the service',
);

const nullableLimit = Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000, format: 'int32' }), Type.Null()], {
  description: 'Requests per minute; 0 for no limit, null for the setting of the service',
  'x-rule': 'an integer from 0 to 1000000, or null',
  examples: [600],
});

const external = Type.Boolean({
  description: 'Whether only the external issuer issues its tokens',
  'x-rule': 'true or false',
  examples: [false],
});

const members = {
  client_id: clientId,
  name: nullableName,
  tenant,
  external,
  grants: Type.Array(Type.String({ maxLength: 64, pattern: printableAscii }), {
    maxItems: 16,
    description: 'The grants that it may use; empty for an external client',
  }),
  scopes: Type.Array(Type.String({ maxLength: 64, pattern: printableAscii }), {
    maxItems: 16,
    description: 'The scopes that it may have',
  }),
  refresh_token_use: nullableUse,
  rate_limit_per_minute: nullableLimit,
  created_at: time('When it was created'),
  disabled_at: nullableTime('When it was disabled; null if it is enabled'),
  last_used_at: nullableTime('When it last got a token, to the minute; null if never'),
  tokens_revoked_at: nullableTime('Tokens issued up to this time are revoked; null if they never were'),
};

/** A client in a list. */
export const Client = closed('A client of a tenant', members);
export type Client = Static<typeof Client>;

/** A client with the lifetimes of its secrets. */
export const ClientDetails = closed('A client of a tenant with the lifetimes of its secrets', {
  ...members,
  secrets: Type.Array(
    closed('A valid secret, never shown itself', {
      created_at: time('When the secret was created'),
      expires_at: nullableTime('When it expires; null if it never does'),
    }),
    { maxItems: 100, description: 'Its valid secrets, newest first' },
  ),
});
export type ClientDetails = Static<typeof ClientDetails>;

const clientSecret = plain(
  512,
  'Its secret. It is shown only once; the service stores its hash. Absent for an external client',
  'Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgc2VjcmV0',
);

/** The credentials of a new client. */
export const ClientCredentials = closed('The credentials of a client', {
  client_id: clientId,
  client_secret: Type.Optional(clientSecret),
});

/** A session of a client. */
export const ClientSession = closed('A refresh token with all tokens that descend from it', {
  session: printable(64, 'Its id', '1b0cQwCqv0nN3x7b1cPq9A'),
  scopes: members.scopes,
  started_at: time('When it began'),
  last_used_at: time('When its refresh token was last used'),
  refreshes: wholeNumber('How often it was refreshed', 4),
  expires_at: time('When its refresh token expires'),
  ends_at: time('When it ends, however often it is refreshed'),
});
export type ClientSession = Static<typeof ClientSession>;

/** The body of `createClient`. */
export const NewClient = closed('A client to create', {
  tenant,
  client_id: Type.Optional(clientId),
  name: Type.Optional(name),
  client_secret: Type.Optional(secret),
  grants: Type.Optional(grants),
  scopes: Type.Optional(scopes),
  refresh_token_use: Type.Optional(refreshTokenUse),
  external: Type.Optional(external),
});

/** The body of `updateClient`. */
export const ClientUpdate = closed('Changes to a client; absent members stay unchanged', {
  name: Type.Optional(nullableName),
  grants: Type.Optional(grants),
  scopes: Type.Optional(scopes),
  refresh_token_use: Type.Optional(nullableUse),
  rate_limit_per_minute: Type.Optional(nullableLimit),
  external: Type.Optional(external),
});

/** The body of `rotateClient`. */
export const Rotation = closed('How to replace a secret', {
  client_secret: Type.Optional(secret),
  overlap_hours: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 9_999,
      default: 24,
      format: 'double',
      description: 'Hours for which the old secret stays valid; 0 revokes it immediately',
      'x-rule': 'a number of hours from 0 to 9999',
      examples: [24],
    }),
  ),
  revoke_tokens: Type.Optional(
    Type.Boolean({
      description: 'Whether all current tokens of the client are revoked',
      'x-rule': 'true or false',
      examples: [false],
    }),
  ),
});

/** The result of `rotateClient`. */
export const RotatedClient = closed('A client with its new secret', {
  client_id: clientId,
  client_secret: clientSecret,
  disabled: Type.Boolean({ description: 'Whether the client is disabled: its new secret gets no tokens yet' }),
});

/** The body of `revokeClientTokens`. */
export const Revocation = closed('Which tokens to revoke', {
  session: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: printableAscii,
      description: 'Only the tokens of this session; absent for all tokens',
      'x-rule': "the id of one of the client's sessions",
      examples: ['1b0cQwCqv0nN3x7b1cPq9A'],
    }),
  ),
});

/** The result of `revokeClientTokens`. */
export const RevokedTokens = closed('Which tokens were revoked', {
  client_id: clientId,
  revoked: printable(64, "'all', or the id of the session", 'all'),
});

/** The result of `deleteClient`. */
export const DeletedClient = closed('A client that was deleted', {
  client_id: clientId,
  deleted: Type.Boolean({ description: 'Always true' }),
});

/** The query parameters of `listClients`. */
export const clientListParameters = { tenant, search, ...listParameters };

/** The sessions of a client. */
export const clientSessions = listOf(ClientSession, 'The sessions of a client');

/** A page of clients. */
export const clientPage = listOf(Client, 'A page of clients');
