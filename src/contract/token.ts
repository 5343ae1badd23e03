import Type, { type Static } from 'typebox';
import { printableAscii } from './schema.ts';

/** The grants of the token endpoint (`spec.md` "Authentication"; RFC 6749 §4.4 and §6). */
export const grantTypes = ['client_credentials', 'refresh_token'] as const;
export type GrantType = (typeof grantTypes)[number];

/**
 * What becomes of a refresh token that was used: `rotate` ends it, `reuse` leaves it valid until it
 * expires.
 */
export const refreshTokenUses = ['rotate', 'reuse'] as const;
export type RefreshTokenUse = (typeof refreshTokenUses)[number];

/** The scopes that exist: what an access token may allow (RFC 6749 §3.3). */
export const scopes = ['subscription:read', 'subscription:write'] as const;
export type Scope = (typeof scopes)[number];

/**
 * The scopes that clients of the public interface are told of; the others are the operator's to
 * give.
 */
export const publicScopes: readonly Scope[] = ['subscription:read'];

/**
 * Scopes of OpenID Connect (Core §5.4, §11): clients of an identity provider may send them; they
 * say nothing here and are not granted.
 */
export const identityScopes: ReadonlySet<string> = new Set([
  ...['openid', 'profile', 'email', 'address', 'phone', 'offline_access'],
]);

/** What a client may ask for unless it was made with other scopes. */
export const defaultScopes: readonly Scope[] = ['subscription:read'];

const secretText = (description: string) => Type.String({ maxLength: 4096, pattern: printableAscii, description });

/**
 * The form fields of a token request (`spec.md` "Authentication", items 3 and 5; RFC 6749 §4.4.2,
 * §6).
 */
export const TokenRequest = Type.Object(
  {
    grant_type: Type.String({ enum: [...grantTypes], maxLength: 32, description: 'The grant' }),
    client_id: Type.Optional(secretText('Client identifier, unless sent by HTTP Basic')),
    client_secret: Type.Optional(secretText('Client secret, unless sent by HTTP Basic')),
    refresh_token: Type.Optional(secretText('The refresh token, for grant_type=refresh_token')),
    scope: Type.Optional(secretText('Space-separated scopes; without it, all that the client has')),
  },
  { description: 'A token request; unknown fields are ignored (RFC 6749 §3.2)' },
);

/**
 * A token answer (RFC 6749 §5.1), with `refresh_expires_in` as Keycloak has it. Times are in
 * seconds.
 */
export const TokenResponse = Type.Object(
  {
    access_token: Type.String({
      maxLength: 4096,
      pattern: printableAscii,
      description: 'The access token, a JWT (RFC 9068)',
    }),
    token_type: Type.Literal('Bearer', { maxLength: 6 }),
    expires_in: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      format: 'int32',
      description: 'Seconds until the access token ends',
    }),
    refresh_token: Type.Optional(
      Type.String({ maxLength: 512, pattern: printableAscii, description: 'The refresh token; each use replaces it' }),
    ),
    refresh_expires_in: Type.Integer({
      minimum: 0,
      maximum: 2_592_000,
      format: 'int32',
      description: 'Seconds until the refresh token ends; 0 when there is none',
    }),
    scope: Type.String({ maxLength: 512, pattern: printableAscii, description: 'The scopes of the access token' }),
    'not-before-policy': Type.Optional(
      Type.Literal(0, { format: 'int32', description: 'As Keycloak has it: no token is refused for its age' }),
    ),
    session_state: Type.Optional(
      Type.String({
        maxLength: 64,
        pattern: printableAscii,
        description: 'As Keycloak has it: stays the same from refresh to refresh',
      }),
    ),
  },
  { additionalProperties: false, description: 'A token answer' },
);
export type TokenResponse = Static<typeof TokenResponse>;

/** The form fields of a revocation or introspection request (RFC 7009 §2.1, RFC 7662 §2.1). */
export const TokenQuery = Type.Object(
  {
    token: secretText('The token'),
    token_type_hint: Type.Optional(secretText('What kind of token it is; not needed, as the token tells')),
    client_id: Type.Optional(secretText('Client identifier, unless sent by HTTP Basic')),
    client_secret: Type.Optional(secretText('Client secret, unless sent by HTTP Basic')),
  },
  { description: 'A question about a token, or its end; unknown fields are ignored' },
);

const claimText = (description: string) =>
  Type.Optional(Type.String({ maxLength: 2048, pattern: printableAscii, description }));
const claimTime = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 99_999_999_999, format: 'int64', description }));

/** What is told of a token (RFC 7662 §2.2). Times are in UTC epoch seconds. */
export const IntrospectionResponse = Type.Object(
  {
    active: Type.Boolean({ description: 'Whether the token is good now; nothing else is told of one that is not' }),
    token_type: Type.Optional(
      Type.String({ enum: ['Bearer', 'refresh_token'], maxLength: 16, description: 'Kind of token' }),
    ),
    client_id: claimText('The client it was issued to'),
    sub: claimText('The same'),
    scope: claimText('Its scopes, separated by blanks'),
    iss: claimText('The issuer'),
    aud: claimText('The API it is for'),
    jti: claimText('Identifier of the access token'),
    sid: claimText('Identifier of what came from one token request'),
    exp: claimTime('When it ends'),
    iat: claimTime('When it was issued'),
  },
  { additionalProperties: false, description: 'What is told of a token (RFC 7662)' },
);
export type IntrospectionResponse = Static<typeof IntrospectionResponse>;

/**
 * Error codes of the token endpoint with their status (RFC 6749 §5.2, RFC 7009 §2.2.1; the last
 * three are ours for conditions that these do not name).
 */
export const tokenErrorTable = {
  invalid_request: { status: 400 },
  invalid_client: { status: 401 },
  invalid_grant: { status: 400 },
  unauthorized_client: { status: 400 },
  unsupported_grant_type: { status: 400 },
  invalid_scope: { status: 400 },
  unsupported_token_type: { status: 400 },
  slow_down: { status: 429 },
  server_error: { status: 500 },
  temporarily_unavailable: { status: 503 },
} as const satisfies Record<string, { readonly status: number }>;
export type TokenErrorCode = keyof typeof tokenErrorTable;

/** The body of a refused token request (RFC 6749 §5.2). */
export const TokenErrorBody = Type.Object(
  {
    error: Type.String({ enum: Object.keys(tokenErrorTable), maxLength: 32 }),
    error_description: Type.Optional(
      Type.String({ maxLength: 512, pattern: printableAscii, description: 'A sentence for the developer' }),
    ),
  },
  { additionalProperties: false, description: 'A refused token request (RFC 6749 §5.2)' },
);
export type TokenErrorBody = Static<typeof TokenErrorBody>;
