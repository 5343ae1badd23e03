import { type ClientRow, recordClientUse } from '../../storage/tables/client.ts';
import type { AuthContext } from '../auth-context.ts';
import { describeStray, TokenError } from '../error.ts';
import { clientCredentialsGrant } from './client-credentials.ts';
import type { Grant } from './grant.ts';
import type { IssuedTokens } from './issue-token.ts';
import { refreshTokenGrant } from './refresh-token.ts';

const grants: ReadonlyMap<string, Grant> = new Map(
  [clientCredentialsGrant, refreshTokenGrant].map((grant) => [grant.grantType, grant]),
);

/** Returns the grant of a token request; throws `TokenError` if it is unknown (RFC 6749 §5.2). */
export function chooseGrant(form: ReadonlyMap<string, string>): Grant {
  const grantType = form.get('grant_type');
  if (grantType === undefined)
    throw new TokenError(
      'invalid_request',
      `Cannot issue a token: grant_type must be given, such as ${clientCredentialsGrant.grantType}`,
    );
  const grant = grants.get(grantType);
  if (grant === undefined) {
    throw new TokenError(
      'unsupported_grant_type',
      `Cannot issue a token: grant_type must be one of ${[...grants.keys()].join(', ')}${describeStray({ grant_type: grantType })}`,
    );
  }
  return grant;
}

/** Returns tokens for an authenticated client; throws `TokenError` if it may not use the grant. */
export async function requestToken(
  context: AuthContext,
  client: ClientRow,
  form: ReadonlyMap<string, string>,
): Promise<IssuedTokens> {
  const grant = chooseGrant(form);
  if (!client.grants.includes(grant.grantType)) {
    throw new TokenError(
      'unauthorized_client',
      `Cannot issue a token: this client may use ${client.grants.join(', ') || 'no grant of this endpoint'}`,
    );
  }
  const issued = await grant.handle(context, client, {
    scope: form.get('scope'),
    refreshToken: form.get('refresh_token'),
  });
  await recordClientUse(context.store, client, context.now());
  return issued;
}
