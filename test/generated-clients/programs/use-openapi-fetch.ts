import createClient from 'openapi-fetch';
import type { paths } from '../../../dist/generated-clients/openapi-typescript.ts';

// Reads reports with openapi-fetch and the types of openapi-typescript, and prints what it read.
const [baseUrl = '', client_id = '', client_secret = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, querySerializer: { array: { style: 'form', explode: false } } });

const issued = await client.POST('/oauth2/token', {
  body: { grant_type: 'client_credentials', client_id, client_secret },
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
if (issued.error) {
  // a request that is not received in time has a problem
  throw new Error('detail' in issued.error ? issued.error.detail : issued.error.error_description);
}
const headers = { authorization: `Bearer ${issued.data.access_token}` };

const query = { status: ['ACTIVE', 'DEPLETED'], size: 1000 };
const page = await client.GET('/connect-api/v1/subscription', { params: { query }, headers });
if (page.error) throw new Error(page.error.detail);
// CSV and NDJSON are strings
if (typeof page.data === 'string') throw new TypeError('the report is not JSON');

const counted = { by: ['status', 'month'] } satisfies { by: ('status' | 'month')[] };
const summary = await client.GET('/connect-api/v1/subscription/summary', { params: { query: counted }, headers });
if (summary.data === undefined) throw new Error(summary.error.detail);

const rejected = await client.GET('/connect-api/v1/subscription', { params: { query: { size: 0 } }, headers });

process.stdout.write(
  JSON.stringify({
    ids: page.data.map(({ id }) => id),
    dimensions: Object.keys(summary.data.by),
    fault: rejected.error?.errors[0]?.parameter,
  }),
);
