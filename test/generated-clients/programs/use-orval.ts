import { getSubscriptionSummary, issueToken, listSubscriptions } from '../../../dist/generated-clients/orval/client.ts';
import {
  GetSubscriptionSummaryResponse,
  IssueTokenBody,
  ListSubscriptionsQueryParams,
  ListSubscriptionsResponse,
} from '../../../dist/generated-clients/orval/zod.ts';

// Reads reports with the client that orval generates, and validates them with its zod schemas.
const [url = '', client_id = '', client_secret = ''] = process.argv.slice(2);
process.env.SUBREPORT_URL = url;

const issued = await issueToken(IssueTokenBody.parse({ grant_type: 'client_credentials', client_id, client_secret }));
if (issued.status !== 200) throw new Error(`no token, status ${issued.status}`);
const options = { headers: { authorization: `Bearer ${issued.data.access_token}` } };

const page = await listSubscriptions({ status: ['ACTIVE', 'DEPLETED'], size: 1000 }, options);
if (page.status !== 200) throw new Error(`no page, status ${page.status}`);
const records = ListSubscriptionsResponse.parse(page.data);
const summary = await getSubscriptionSummary({ by: ['status', 'month'] }, options);
if (summary.status !== 200) throw new Error(`no summary, status ${summary.status}`);
const rejected = await listSubscriptions({ size: 0 }, options);

const [first] = page.data;
const invalid = [{ iccid: '12' }, { auto_renew: true }, { createdDate: undefined }, { product: {} }];
const accepted = invalid.filter((change) => ListSubscriptionsResponse.safeParse([{ ...first, ...change }]).success);
if (accepted.length > 0) throw new Error(`zod accepts ${JSON.stringify(accepted)}`);
if (ListSubscriptionsQueryParams.safeParse({ size: 0 }).success) throw new Error('zod accepts a page of 0');

process.stdout.write(
  JSON.stringify({
    ids: records.map(({ id }) => id),
    dimensions: Object.keys(GetSubscriptionSummaryResponse.parse(summary.data).by),
    fault: rejected.status === 400 ? rejected.data.errors[0]?.parameter : rejected.status,
  }),
);
