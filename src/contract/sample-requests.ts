import type { OperationId } from './operations.ts';
import type { OperatorOperationId } from './operator-operations.ts';

/** The request that the code samples of an operation send. */
export interface SampleRequest {
  /** How the request is authenticated: with an access token, or with client credentials. */
  readonly credentials?: 'token' | 'client';
  /** Values of path parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Fields of a URL-encoded body; a value that starts with `$` is an environment variable. */
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
  /** A file that is the NDJSON body. */
  readonly file?: string;
  /** TypeScript statements that do the same with `client`, the client library. */
  readonly withClient?: string;
}

/** The request of each operation. The ids are those of `exampleSubscription`. */
export const sampleRequests: Readonly<Record<OperationId | OperatorOperationId, SampleRequest>> = {
  listSubscriptions: {
    credentials: 'token',
    query: { status: 'ACTIVE,DEPLETED', size: '50' },
    withClient: `for await (const subscription of client.subscriptions({ status: ['ACTIVE', 'DEPLETED'], size: 50 })) {
  console.log(subscription.id, subscription.expirationDate);
}`,
  },
  getSubscription: {
    credentials: 'token',
    path: { id: 'c3Vic2NyaXB0aW9uLTAwMDE=' },
    withClient: `const subscription = await client.subscription('c3Vic2NyaXB0aW9uLTAwMDE=');
console.log(subscription);`,
  },
  searchSubscriptions: {
    credentials: 'token',
    json: { email: 'ada@example.com', status: ['ACTIVE', 'DEPLETED'], size: 50 },
    withClient: `const found = await client.search({ email: 'ada@example.com', status: ['ACTIVE', 'DEPLETED'] }).first();
console.log(found);`,
  },
  getSubscriptionSummary: {
    credentials: 'token',
    query: { by: 'status,month' },
    withClient: `const summary = await client.summary({ by: ['status', 'month'] });
console.log(summary.total, summary.by.status);`,
  },
  listSubscriptionChanges: {
    credentials: 'token',
    query: { size: '100' },
    withClient: `for await (const page of client.changes(undefined, { size: 100 })) {
  console.log(page.changes.length, page.next);
}`,
  },
  issueToken: { credentials: 'client', form: { grant_type: 'client_credentials' } },
  revokeToken: { credentials: 'client', form: { token: '$ACCESS_TOKEN' } },
  introspectToken: { credentials: 'client', form: { token: '$ACCESS_TOKEN' } },
  loadSubscriptions: { credentials: 'token', path: { tenant: 'acme' }, file: 'subscriptions.ndjson' },
  getKeySet: {},
  getAuthorizationServerMetadata: {},
  getOpenidConfiguration: {},
  getMetrics: {},
  getHealth: {},
  getReadiness: {},
  getOpenapi: {},
};
