import { reportPaths } from './report.ts';

/**
 * An operation. Contract, handler, client library, command line and documentation use the same
 * name.
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path; a `{name}` is a path parameter. */
  readonly path: string;
  readonly tag:
    | 'report'
    | 'auth'
    | 'records'
    | 'service'
    | 'tenants'
    | 'clients'
    | 'keys'
    | 'audit'
    | 'imports'
    | 'operators'
    | 'state';
  readonly summary: string;
  readonly description: string;
}

/** All operations of the public service, by name. */
export const operations = {
  listSubscriptions: {
    method: 'GET',
    path: reportPaths.listSubscriptions,
    tag: 'report',
    summary: 'List subscriptions',
    description:
      'Returns one page of your data subscriptions, filtered and ordered by the sort date, then by id. To read the whole report, follow X-Next-Page until it is absent. The page parameter jumps directly to any page.',
  },
  getSubscription: {
    method: 'GET',
    path: reportPaths.getSubscription,
    tag: 'report',
    summary: 'Get one subscription',
    description: 'Returns one of your data subscriptions by its id, as it is or as it was.',
  },
  getSubscriptionHistory: {
    method: 'GET',
    // not among the paths, which make the client library larger
    path: `${reportPaths.getSubscription}/history`,
    tag: 'report',
    summary: 'Get the history of one subscription',
    description:
      'Returns the versions of one of your data subscriptions that the service has kept, newest first: when each was committed, and by which import. Versions are kept for a number of days that the operator sets.',
  },
  searchSubscriptions: {
    method: 'POST',
    path: reportPaths.searchSubscriptions,
    tag: 'report',
    summary: 'Search subscriptions',
    description:
      'Returns the same report as listSubscriptions, with the parameters in a JSON body, so that email addresses stay out of URLs and logs. The filters id, iccid and device-id may be lists: a record matches if it has any of the values, and X-Not-Found says which values no record has. The operation is read-only. To get the next page, repeat the request with cursor set to the value of X-Next-Cursor, until that header is absent.',
  },
  getSubscriptionSummary: {
    method: 'GET',
    path: reportPaths.getSubscriptionSummary,
    tag: 'report',
    summary: 'Count subscriptions',
    description:
      'Counts your data subscriptions, in total and by status, product, plan, auto-renew, day or month. Accepts the filters of the report. All counts come from one snapshot, and the counts of each dimension add up to the total.',
  },
  getSubscriptionFindings: {
    method: 'GET',
    // not among the paths, like the history
    path: `${reportPaths.listSubscriptions}/findings`,
    tag: 'report',
    summary: 'Find contradictions in subscriptions',
    description:
      'Examines all of your data subscriptions and returns what is contradictory or missing, such as records without a status, ends that have passed while the status is ACTIVE, or an ICCID with two ACTIVE records: for each kind an exact count, since when, and some examples. The records are read once after each change; until then, the response is in memory.',
  },
  listSubscriptionChanges: {
    method: 'GET',
    path: reportPaths.listSubscriptionChanges,
    tag: 'report',
    summary: 'List changes',
    description:
      'Returns the changes after a change token, in order: the current version of each record that was added or changed, and a tombstone for each record that was removed. For a first synchronization, omit since. Then set since to the next value of each response: immediately while has_more is true, later to poll for new changes. A client that applies all changes in order has a complete copy of the report.',
  },
  getChangesSummary: {
    method: 'GET',
    // not among the paths, like the history
    path: `${reportPaths.listSubscriptionChanges}/summary`,
    tag: 'report',
    summary: 'Count changes',
    description:
      'Counts the changes since a change token or an instant, each record once: how many were added, changed and removed, by transition of the status, by move to another product, by change of auto_renew, by day and by import. All counts are exact and from one snapshot. The parameters kind, field, from, to and import-id of listSubscriptionChanges select the changes behind each count.',
  },
  issueToken: {
    method: 'POST',
    path: '/oauth2/token',
    tag: 'auth',
    summary: 'Issue or refresh a token',
    description:
      'The token endpoint (RFC 6749 §3.2). The client authenticates with client_id and client_secret in the request body, or with HTTP Basic. Each refresh returns a new access token and a new refresh token.',
  },
  revokeToken: {
    method: 'POST',
    path: '/oauth2/revoke',
    tag: 'auth',
    summary: 'Revoke a token',
    description:
      'Revokes a refresh token or an access token of the client, together with all other tokens that descend from the same token request (RFC 7009). The response is the same if the token does not belong to the client or does not exist.',
  },
  introspectToken: {
    method: 'POST',
    path: '/oauth2/introspect',
    tag: 'auth',
    summary: 'Introspect a token',
    description:
      'Returns whether a token of the client is active, and its claims (RFC 7662). Tokens of other clients are reported as inactive.',
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
    description: 'The same metadata at the location where OpenID Connect clients look for it.',
  },
  getHealth: {
    method: 'GET',
    path: '/healthz',
    tag: 'service',
    summary: 'Check liveness',
    description: 'Returns 200 while the process runs, whatever the state of the database.',
  },
  getReadiness: {
    method: 'GET',
    path: '/readyz',
    tag: 'service',
    summary: 'Check readiness',
    description: 'Returns 200 if the service can serve reports now, 503 otherwise.',
  },
  getOpenapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'service',
    summary: 'Get the OpenAPI document',
    description: 'This document, with the URL and the limits of the running service.',
  },
} as const satisfies Record<string, Operation>;

/** Name of an operation. */
export type OperationId = keyof typeof operations;
