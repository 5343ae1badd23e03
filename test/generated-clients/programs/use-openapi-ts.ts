import { client } from '../../../dist/generated-clients/openapi-ts/client.gen.ts';
import {
  getSubscriptionSummary,
  issueToken,
  listSubscriptions,
  type Problem,
  type Subscription,
} from '../../../dist/generated-clients/openapi-ts/index.ts';

// Reads reports with the client that @hey-api/openapi-ts generates, and prints what it read.
const [baseUrl = '', client_id = '', client_secret = ''] = process.argv.slice(2);
client.setConfig({ baseUrl });

const issued = await issueToken({
  body: { grant_type: 'client_credentials', client_id, client_secret },
  throwOnError: true,
});
client.setConfig({ auth: issued.data.access_token });

const page = await listSubscriptions({ query: { status: ['ACTIVE', 'DEPLETED'], size: 1000 }, throwOnError: true });
const records: Subscription[] = page.data;
const summary = await getSubscriptionSummary({ query: { by: ['status', 'month'] }, throwOnError: true });
const rejected = await listSubscriptions({ query: { size: 0 } });
const problem: Problem | undefined = rejected.error;

process.stdout.write(
  JSON.stringify({
    ids: records.map(({ id }) => id),
    dimensions: Object.keys(summary.data.by),
    fault: problem?.errors[0]?.parameter,
  }),
);
