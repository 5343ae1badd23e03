import type { JWK } from 'jose';
import { grantTypes, publicScopes } from '../../../contract/oauth/grant.ts';
import { operations } from '../../../contract/operations.ts';

const authMethods = ['client_secret_basic', 'client_secret_post'];

/**
 * Returns the authorization server metadata (RFC 8414 §2) that both discovery documents contain
 * (docs/decisions/tokens.md#discovery). `issuer` is the configured one, unchanged; `keys` are those
 * of the key set.
 */
export function describeServer(issuer: string, keys: readonly JWK[]) {
  return {
    issuer,
    token_endpoint: `${issuer}${operations.issueToken.path}`,
    jwks_uri: `${issuer}${operations.getKeySet.path}`,
    revocation_endpoint: `${issuer}${operations.revokeToken.path}`,
    introspection_endpoint: `${issuer}${operations.introspectToken.path}`,
    response_types_supported: [],
    grant_types_supported: [...grantTypes],
    scopes_supported: [...publicScopes],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    introspection_endpoint_auth_methods_supported: authMethods,
    // required of every OpenID provider; no ID token is ever issued
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.flatMap(({ alg = [] }) => alg))],
    service_documentation: `${issuer}/docs`,
  };
}
