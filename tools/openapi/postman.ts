import { type OperationId, operations } from '../../packages/contract/operations.ts';
import type { Json } from './responses.ts';

/** A request of the collection. Names in `{{ }}` are variables, which earlier requests set. */
interface SampleCall {
  readonly name: string;
  readonly operation: OperationId;
  readonly query?: string;
  readonly json?: string;
  readonly form?: Readonly<Record<string, string>>;
  /** Checks beside the status, as JavaScript for Postman. */
  readonly checks: readonly string[];
}

const body = 'const body = pm.response.json();';
const check = (title: string, condition: string): string =>
  `pm.test(${JSON.stringify(title)}, () => pm.expect(${condition}).to.be.true);`;
const keep = (name: string, value: string): string => `pm.collectionVariables.set('${name}', ${value});`;

/** In the order in which they run. */
const calls: readonly SampleCall[] = [
  {
    name: 'Get an access token',
    operation: 'issueToken',
    form: {
      grant_type: 'client_credentials',
      client_id: '{{SUBREPORT_CLIENT_ID}}',
      client_secret: '{{SUBREPORT_CLIENT_SECRET}}',
    },
    checks: [
      body,
      check('the token is a bearer token', "body.token_type === 'Bearer'"),
      keep('token', 'body.access_token'),
    ],
  },
  {
    name: 'The first page of active and depleted subscriptions',
    operation: 'listSubscriptions',
    query: 'status=ACTIVE,DEPLETED&size=5',
    checks: [
      body,
      check(
        'the page has at most 5 of the total',
        "body.length <= Math.min(5, pm.response.headers.get('X-Total-Count'))",
      ),
      'const [{ id, iccid }] = body;',
      keep('id', 'id'),
      keep('iccid', 'iccid'),
    ],
  },
  {
    name: 'What expires within 90 days and does not renew',
    operation: 'listSubscriptions',
    query: 'expires-within=90d&auto-renew=false&sort=expirationDate',
    checks: [body, check('none renews', "body.every(({ auto_renew }) => auto_renew === 'false')")],
  },
  {
    name: 'A page as CSV',
    operation: 'listSubscriptions',
    query: 'format=csv&fields=id,iccid,expirationDate',
    checks: [check('the columns are those of fields', "pm.response.text().startsWith('id,')")],
  },
  {
    name: 'One subscription',
    operation: 'getSubscription',
    checks: [body, check('it is the one of the page', "body.iccid === pm.collectionVariables.get('iccid')")],
  },
  {
    name: 'Its earlier versions',
    operation: 'getSubscriptionHistory',
    checks: [body, check('there is a version', 'body.versions.length > 0')],
  },
  {
    name: 'Search for a SIM, without writing it into the URL',
    operation: 'searchSubscriptions',
    json: '{ "iccid": ["{{iccid}}"], "size": 50 }',
    checks: [
      body,
      check('each is of this SIM', "body.every(({ iccid }) => iccid === pm.collectionVariables.get('iccid'))"),
    ],
  },
  {
    name: 'Counts by status and month',
    operation: 'getSubscriptionSummary',
    query: 'by=status,month',
    checks: [
      body,
      check('the counts add up', 'body.by.status.reduce((sum, { count }) => sum + count, 0) === body.total'),
    ],
  },
  {
    name: 'Contradictory records',
    operation: 'getSubscriptionFindings',
    checks: [
      body,
      check('findings have a kind and a count', 'body.findings.every(({ kind, count }) => kind && count >= 0)'),
    ],
  },
  {
    name: 'Changes from the beginning',
    operation: 'listSubscriptionChanges',
    query: 'size=100',
    checks: [body, check('there is a change token for the next request', 'body.next.length > 0')],
  },
];

/** Builds a collection of Postman (v2.1.0) from the contract, for a service at `origin`. */
export function buildPostman(origin: string): Json {
  const empty = { SUBREPORT_CLIENT_ID: '', SUBREPORT_CLIENT_SECRET: '', token: '', id: '', iccid: '' };
  return {
    info: {
      name: 'subreport',
      description:
        'Ten requests, in the order in which they run. Set SUBREPORT_URL, SUBREPORT_CLIENT_ID and SUBREPORT_CLIENT_SECRET; the first request gets the token of the others.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: Object.entries({ SUBREPORT_URL: origin, ...empty }).map(([key, value]) => ({ key, value })),
    item: calls.map(itemOf),
  };
}

function itemOf({ name, operation, query, json, form, checks }: SampleCall): Json {
  const { method, path, description } = operations[operation];
  const url = `{{SUBREPORT_URL}}${path.replace('{id}', '{{id}}')}${query === undefined ? '' : `?${query}`}`;
  const status = "pm.test('status 200', () => pm.response.to.have.status(200));";
  return {
    name,
    request: { method, description, url, ...bodyOf(json, form) },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: [status, ...checks] } }],
  };
}

function bodyOf(json: SampleCall['json'], form: SampleCall['form']): Json {
  if (json !== undefined)
    return { header: [{ key: 'Content-Type', value: 'application/json' }], body: { mode: 'raw', raw: json } };
  if (form === undefined) return {};
  const urlencoded = Object.entries(form).map(([key, value]) => ({ key, value }));
  return { auth: { type: 'noauth' }, body: { mode: 'urlencoded', urlencoded } };
}
