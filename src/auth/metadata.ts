import { grantTypes, scopes } from '../contract/token.ts';

/** Authorization server metadata (RFC 8414 §2), as both discovery documents serve it. `issuer` is the configured one to the letter. */
export function describeServer(issuer: string) {
  return {
    issuer,
    token_endpoint: `${issuer}/oauth2/token`,
    jwks_uri: `${issuer}/oauth2/jwks`,
    response_types_supported: [],
    grant_types_supported: [...grantTypes],
    scopes_supported: [...scopes],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    service_documentation: `${issuer}/docs`,
  };
}
