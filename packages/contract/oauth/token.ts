import type { Static } from 'typebox';
import { tokenErrorStatuses } from '../error-code.ts';
import { closed, printable } from '../schema.ts';
import { Type } from '../type.ts';
import { grantTypes } from './grant.ts';

const secretText = (description: string) => printable(4096, description);

/**
 * The form fields of a token request (`spec.md` "Authentication", items 3 and 5; RFC 6749 §4.4.2,
 * §6).
 */
export const TokenRequest = Type.Object(
  {
    grant_type: Type.String({ enum: [...grantTypes], maxLength: 32, description: 'The grant type' }),
    client_id: Type.Optional(secretText('Client identifier, unless sent by HTTP Basic')),
    client_secret: Type.Optional(secretText('Client secret, unless sent by HTTP Basic')),
    refresh_token: Type.Optional(secretText('The refresh token, for grant_type=refresh_token')),
    scope: Type.Optional(secretText('Space-separated scopes. If absent, all scopes of the client')),
  },
  { description: 'A token request; unknown fields are ignored (RFC 6749 §3.2)' },
);

/**
 * A token response (RFC 6749 §5.1), with `refresh_expires_in` as in Keycloak. Times are in seconds.
 */
export const TokenResponse = closed('A token response', {
  access_token: printable(4096, 'The access token, a JWT (RFC 9068)'),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({
    minimum: 1,
    maximum: 86_400,
    format: 'int32',
    description: 'Seconds until the access token expires',
  }),
  refresh_token: Type.Optional(printable(512, 'The refresh token; each refresh returns a new one')),
  refresh_expires_in: Type.Integer({
    minimum: 0,
    maximum: 2_592_000,
    format: 'int32',
    description: 'Seconds until the refresh token expires; 0 if there is none',
  }),
  scope: printable(512, 'The scopes of the access token'),
  'not-before-policy': Type.Optional(
    Type.Literal(0, { format: 'int32', description: 'Always 0, for compatibility with Keycloak' }),
  ),
  session_state: Type.Optional(
    printable(64, 'Session identifier, the same after every refresh; for compatibility with Keycloak'),
  ),
});
export type TokenResponse = Static<typeof TokenResponse>;

/** The form fields of a revocation or introspection request (RFC 7009 §2.1, RFC 7662 §2.1). */
export const TokenQuery = Type.Object(
  {
    token: secretText('The token'),
    token_type_hint: Type.Optional(secretText('Type of the token; optional and ignored')),
    client_id: Type.Optional(secretText('Client identifier, unless sent by HTTP Basic')),
    client_secret: Type.Optional(secretText('Client secret, unless sent by HTTP Basic')),
  },
  { description: 'The token of a revocation or introspection request; unknown fields are ignored' },
);

const claimText = (description: string) => Type.Optional(printable(2048, description));
const claimTime = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 99_999_999_999, format: 'int64', description }));

/** The introspection result (RFC 7662 §2.2). Times are in UTC epoch seconds. */
export const IntrospectionResponse = closed('The introspection result (RFC 7662)', {
  active: Type.Boolean({ description: 'Whether the token is active. If false, all other members are absent' }),
  token_type: Type.Optional(
    Type.String({ enum: ['Bearer', 'refresh_token'], maxLength: 16, description: 'Type of the token' }),
  ),
  client_id: claimText('The client that the token was issued to'),
  sub: claimText('Subject: the same as client_id'),
  scope: claimText('Space-separated scopes of the token'),
  iss: claimText('Issuer of the token'),
  aud: claimText('Audience: the API that the token is for'),
  jti: claimText('Identifier of the access token'),
  sid: claimText('Session identifier, shared by all tokens that descend from one token request'),
  exp: claimTime('When the token expires'),
  iat: claimTime('When the token was issued'),
});
export type IntrospectionResponse = Static<typeof IntrospectionResponse>;

/** The body of a rejected token request (RFC 6749 §5.2). */
export const TokenErrorBody = closed('A rejected token request (RFC 6749 §5.2)', {
  error: Type.String({ enum: Object.keys(tokenErrorStatuses), maxLength: 32 }),
  error_description: Type.Optional(printable(512, 'A sentence for developers')),
});
export type TokenErrorBody = Static<typeof TokenErrorBody>;
