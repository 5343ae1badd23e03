import { operations } from '../contract/operations.ts';
import { grantTypes, scopes } from '../contract/token.ts';

const authMethods = ['client_secret_basic', 'client_secret_post'];

/** Authorization server metadata (RFC 8414 §2), as both discovery documents serve it. `issuer` is the configured one to the letter. */
export function describeServer(issuer: string) {
  return {
    issuer,
    token_endpoint: `${issuer}${operations.issueToken.path}`,
    jwks_uri: `${issuer}${operations.getKeySet.path}`,
    revocation_endpoint: `${issuer}${operations.revokeToken.path}`,
    introspection_endpoint: `${issuer}${operations.introspectToken.path}`,
    response_types_supported: [],
    grant_types_supported: [...grantTypes],
    scopes_supported: [...scopes],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    introspection_endpoint_auth_methods_supported: authMethods,
    service_documentation: `${issuer}/docs`,
  };
}
