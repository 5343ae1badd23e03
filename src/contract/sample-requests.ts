import type { OperationId } from './operations.ts';
import type { OperatorApiId, OperatorOperationId } from './operator-operations.ts';
import type { SampleRequest } from './sample-request.ts';

/** The request of each operation. The ids are those of `exampleSubscription`. */
export const sampleRequests: Readonly<
  Record<OperationId | Exclude<OperatorOperationId, OperatorApiId>, SampleRequest>
> = {
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
