/**
 * One operation of the service: its name is the same in contract, handler, SDK, command line and
 * documentation.
 */
export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Absolute path; a `{name}` is a path parameter. */
  readonly path: string;
  readonly tag: 'report' | 'auth' | 'service';
  readonly summary: string;
  readonly description: string;
}

/**
 * Path of the API below the public URL: `{base_url}` of the specification is the public URL with it
 * (`spec.md` "Endpoints").
 */
export const apiPath = '/connect-api';

/** Every operation of the service by name. */
export const operations = {
  listSubscriptions: {
    method: 'GET',
    path: `${apiPath}/v1/subscription`,
    tag: 'report',
    summary: 'List subscriptions',
    description:
      'One page of your own data subscriptions, filtered and in a total order: the sort date, then the id. Follow X-Next-Page (or the Link header) until it is absent to read the whole report; page numbers jump to any page.',
  },
  getSubscription: {
    method: 'GET',
    path: `${apiPath}/v1/subscription/{id}`,
    tag: 'report',
    summary: 'Get one subscription',
    description: 'One of your own data subscriptions by its id.',
  },
  searchSubscriptions: {
    method: 'POST',
    path: `${apiPath}/v1/subscription/search`,
    tag: 'report',
    summary: 'Search subscriptions',
    description:
      'The report of listSubscriptions with its parameters in a JSON body, so that an e-mail stands in no URL. It changes nothing. For the next page, send the same body with cursor set to the X-Next-Cursor header until that is absent.',
  },
  getSubscriptionSummary: {
    method: 'GET',
    path: `${apiPath}/v1/subscription/summary`,
    tag: 'report',
    summary: 'Count subscriptions',
    description:
      'How many of your own data subscriptions there are, in all and by status, product, plan, auto-renew, and day or month, with the filters of the report. All counts are of one moment, and those of each group add up to the total.',
  },
  listSubscriptionChanges: {
    method: 'GET',
    path: `${apiPath}/v1/subscription/changes`,
    tag: 'report',
    summary: 'List what changed',
    description:
      'What changed after a token, in order: each record that was added or changed as it is now, a tombstone for each that was removed, and the token to go on from. Begin without since; go on with since set to next at once while has_more is true, later when you want to know more. Whoever applies all of it has the whole report.',
  },
  issueToken: {
    method: 'POST',
    path: '/oauth2/token',
    tag: 'auth',
    summary: 'Issue or refresh a token',
    description:
      'The token endpoint (RFC 6749 §3.2). The client authenticates by client_id and client_secret in the body or by HTTP Basic. Each refresh answers with a new access token and a new refresh token.',
  },
  revokeToken: {
    method: 'POST',
    path: '/oauth2/revoke',
    tag: 'auth',
    summary: 'Revoke a token',
    description:
      'Ends a refresh token of the client with all that came from the same token request, or the same by one of its access tokens (RFC 7009). A token that is none of the client is passed over: the answer is the same.',
  },
  introspectToken: {
    method: 'POST',
    path: '/oauth2/introspect',
    tag: 'auth',
    summary: 'Ask about a token',
    description:
      'Tells a client whether a token of its own is good, and what it says (RFC 7662). Every other token is not active.',
  },
  getKeySet: {
    method: 'GET',
    path: '/oauth2/jwks',
    tag: 'auth',
    summary: 'Get the key set',
    description: 'The public keys that verify access tokens (RFC 7517).',
  },
  getAuthorizationServerMetadata: {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    tag: 'auth',
    summary: 'Discover the token endpoint (OAuth)',
    description: 'Authorization server metadata (RFC 8414).',
  },
  getOpenidConfiguration: {
    method: 'GET',
    path: '/.well-known/openid-configuration',
    tag: 'auth',
    summary: 'Discover the token endpoint (OpenID Connect)',
    description: 'The same metadata where OpenID Connect clients look for it.',
  },
  getHealth: {
    method: 'GET',
    path: '/healthz',
    tag: 'service',
    summary: 'Ask whether the process is alive',
    description: 'Answers 200 as long as the process runs, whatever its store does.',
  },
  getReadiness: {
    method: 'GET',
    path: '/readyz',
    tag: 'service',
    summary: 'Ask whether reports can be answered',
    description: 'Answers 200 when a report could be answered now, 503 otherwise.',
  },
  getOpenapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'service',
    summary: 'Get this document',
    description: 'This document, as the running service means it.',
  },
} as const satisfies Record<string, Operation>;

/** Name of an operation. */
export type OperationId = keyof typeof operations;
