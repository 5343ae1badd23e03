import type { ChangesSummary } from '../../packages/contract/changes-summary.ts';
import { recordColumns, writeCsvLine } from '../../packages/contract/csv.ts';
import type { ErrorCode, TokenErrorCode } from '../../packages/contract/error-code.ts';
import { findingKinds, type SubscriptionFindings } from '../../packages/contract/findings.ts';
import type { SubscriptionHistory } from '../../packages/contract/history.ts';
import type { IntrospectionResponse, TokenErrorBody, TokenResponse } from '../../packages/contract/oauth/token.ts';
import { buildProblem, type Fault, faultSentence, type Problem } from '../../packages/contract/problem.ts';
import { reportParameters } from '../../packages/contract/query.ts';
import { defaultPageLimits } from '../../packages/contract/report.ts';
import { ruleOf } from '../../packages/contract/schema.ts';
import type { Subscription } from '../../packages/contract/subscription.ts';
import type { SubscriptionSummary } from '../../packages/contract/summary.ts';
import { operatorExamples } from './operator-examples.ts';

const fault: Fault = { parameter: 'size', value: '0', rule: ruleOf(reportParameters(defaultPageLimits).size) };

/** A message of each code, as the service sends it. */
const messages: Readonly<Record<ErrorCode, string>> = {
  INVALID_HTTP_MESSAGE: 'Cannot read the request: it must be HTTP/1.1, with a method such as GET',
  INVALID_REQUEST_PARAMS: faultSentence(fault),
  UNAUTHORISED:
    'Cannot accept the access token: its client must be active and belong to its issuer, and it must not have been revoked',
  SESSION_ENDED: 'Cannot continue the session: it ended because it was not used; sign in again',
  ACCESS_DENIED: "Cannot use the access token for this operation: its scope must include 'subscription:read'",
  NOT_FOUND: 'Cannot find the subscription: its id must be that of one of your subscriptions',
  METHOD_NOT_ALLOWED: 'Cannot use the method DELETE: it must be one of GET, HEAD',
  UNACCEPTABLE:
    "Cannot respond in the requested format: the header 'accept' must allow application/json, text/csv, application/x-ndjson, or format must be one of their names",
  REQUEST_TIMEOUT: 'Cannot read the body: its next bytes must arrive within 30 s',
  CONFLICT: "Cannot create the tenant: its name must not be in use: current value is 'acme'",
  RESYNC_REQUIRED:
    "Cannot continue from the token in 'since': it must be a token of the current records of the service; read everything again, without since, into an empty copy",
  HISTORY_NOT_KEPT:
    "Cannot read the past: 'as-of' must be within the kept history, which begins at 2026-10-01T00:00:00Z, with revision 12: current value is '2026-09-30T00:00:00Z'",
  PAYLOAD_TOO_LARGE: 'Cannot read the request: its body must be smaller',
  STORAGE_BUDGET_EXCEEDED:
    'Cannot store the records: the tenant must stay within its storage budget of 17179869184 bytes (TENANT_STORAGE_MAX_MIB) without the history of its records: they need 17180012400 bytes, 480200 more than now; nothing was loaded',
  URI_TOO_LONG: 'Cannot read the request: its URL must have at most 8192 characters: current value is 9000',
  UNSUPPORTED_MEDIA_TYPE:
    'Cannot read the request: its body must have a supported media type: application/json for a search, application/x-ndjson or text/csv to load records',
  TOO_MANY_REQUESTS:
    'Cannot respond now: a client must send at most 600 requests per minute; wait for Retry-After seconds',
  HEADERS_TOO_LARGE: 'Cannot read the request: its headers must have at most 16384 bytes in total',
  INTERNAL_ERROR: 'Cannot respond: an internal error occurred; report the correlation_id to the operator',
  UNAVAILABLE: 'Cannot respond now: the database must be reachable; try again shortly',
};

/** A whole problem response of each code. */
const problemExamples: Readonly<Record<string, Problem>> = Object.fromEntries(
  Object.entries(messages).map(([code, message]) => [
    code,
    buildProblem(
      {
        code: code as ErrorCode,
        messages: [message],
        faults: code === 'INVALID_REQUEST_PARAMS' ? [fault] : [],
        members: code === 'HISTORY_NOT_KEPT' ? { history_begins_at: '2026-10-01T00:00:00Z' } : {},
      },
      '9f8a6c1e-4b07-4f7e-9a53-3f1f2f6a7c10',
    ),
  ]),
);

/** The record of all examples. */
export const exampleSubscription: Subscription = {
  id: 'c3Vic2NyaXB0aW9uLTAwMDE=',
  status: 'ACTIVE',
  activationDate: '2024-05-01T08:00:04Z',
  expirationDate: '2024-05-31T08:00:04Z',
  createdDate: '2024-05-01T08:00:00Z',
  product: {
    id: 'cHJvZHVjdC0zMA',
    name: 'Europe 5 GB, 30 days',
    period: 30,
    period_unit: 'DAYS',
    plan_id: 'cGxhbi1ldXJvcGU',
  },
  iccid: '8944500102198304826',
  device_id: 'device-000417',
  auto_renew: 'true',
};

/** The same record as a line of a load, with the optional email. */
export const exampleLine = `${JSON.stringify({ ...exampleSubscription, email: 'ada@example.com' })}\n`;

const record = `${JSON.stringify(exampleSubscription)}\n`;

const { product, ...fields } = exampleSubscription;
const cells = new Map<string, string | number>([
  ...Object.entries(fields),
  ...Object.entries(product).map(([name, value]) => [`product.${name}`, value] as const),
  ['email', 'ada@example.com'],
]);
const csvOf = (columns: readonly string[]): string =>
  writeCsvLine(columns) + writeCsvLine(columns.map((column) => String(cells.get(column) ?? '')));
const csv = csvOf(recordColumns);

/** The same record as a CSV body of a load. */
export const exampleCsv = csvOf([...recordColumns, 'email']);

const changes = { changes: [exampleSubscription], next: 'WzEsNDIsIiIsIjFuNHA5cSJd', has_more: false };

const transition = { from: 'ACTIVE', to: 'SUSPENDED', count: 57_961 };
const changesSummary: ChangesSummary = {
  total: 58_010,
  added: 0,
  changed: 58_007,
  removed: 3,
  renewed: 46,
  by: {
    status: [transition],
    'product-id': [],
    'auto-renew': [],
    day: [{ value: '2024-05-20', added: 0, changed: 58_007, removed: 3 }],
    import: [
      {
        import_id: '01890a5d-ac96-774b-bcce-b302099a8057',
        first_at: '2024-05-20T02:00:04Z',
        last_at: '2024-05-20T02:03:11Z',
        ...{ added: 0, changed: 58_007, removed: 3, renewed: 46, status: [transition], omitted: 0 },
      },
    ],
  },
  omitted: { status: 0, 'product-id': 0, import: 0 },
  since_revision: 41,
  revision: 42,
  next: 'WzEsNDMsIiIsIjFmMmt4OXoiXQ',
};

const history: SubscriptionHistory = {
  id: exampleSubscription.id,
  versions: [
    {
      revision: 42,
      committed_at: '2024-05-20T02:00:04Z',
      import_id: '01890a5d-ac96-774b-bcce-b302099a8057',
      record: exampleSubscription,
    },
    { revision: 17, record: { ...exampleSubscription, status: 'PENDING' } },
  ],
  has_more: false,
};

const summary: SubscriptionSummary = {
  total: 1,
  by: {
    status: [{ value: 'ACTIVE', count: 1 }],
    'product-id': [{ value: product.id, name: 'Europe 5 GB, 30 days', count: 1 }],
  },
};

const findings: SubscriptionFindings = {
  total: 1140,
  evaluated_at: '2024-05-20T09:00:00Z',
  findings: Object.keys(findingKinds).map((kind) => ({
    kind,
    count: 0,
    examples: [],
    ...(kind === 'iccid-active-twice' && {
      count: 1,
      since: '2024-05-20T02:00:04Z',
      examples: [{ iccid: exampleSubscription.iccid, ids: [exampleSubscription.id, 'c3Vic2NyaXB0aW9uLTAwMDI='] }],
    }),
  })),
};

const tokenResponse: TokenResponse = {
  access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJhY21lLXJlcG9ydHMifQ.c2lnbmF0dXJl',
  token_type: 'Bearer',
  expires_in: 300,
  refresh_token: 'c2Vzc2lvbi0wMDAxLjE',
  refresh_expires_in: 1800,
  scope: 'subscription:read',
};

const introspection: IntrospectionResponse = {
  active: true,
  token_type: 'Bearer',
  client_id: 'acme-reports',
  sub: 'acme-reports',
  scope: 'subscription:read',
  iss: 'https://reports.example.com',
  aud: 'https://reports.example.com/connect-api',
  jti: 'dG9rZW4tMDAwMQ',
  sid: 'c2Vzc2lvbi0wMDAx',
  exp: 1_714_550_700,
  iat: 1_714_550_400,
};

const tokenErrorDescriptions: Readonly<Record<TokenErrorCode, string>> = {
  invalid_request: 'Cannot issue a token: grant_type must be given, such as client_credentials',
  invalid_client: 'Cannot authenticate the client: client_id and client_secret must be those of an active client',
  invalid_grant:
    'Cannot refresh: refresh_token must be the latest one of this client, unused and not expired; request a new one with grant_type=client_credentials',
  unauthorized_client: 'Cannot issue a token: this client may use client_credentials',
  unsupported_grant_type: 'Cannot issue a token: grant_type must be one of client_credentials, refresh_token',
  invalid_scope:
    'Cannot issue a token: scope must contain only scopes of the client, separated by single spaces: subscription:read',
  unsupported_token_type:
    'Cannot revoke the token: it must belong to a client with refresh tokens; it expires within minutes',
  slow_down: 'Cannot authenticate the client now: too many attempts failed',
  server_error: 'Cannot issue a token: an internal error occurred',
  temporarily_unavailable: 'Cannot issue a token now: try again shortly',
};

const tokenErrors = Object.entries(tokenErrorDescriptions).map(([error, description]): [string, TokenErrorBody] => [
  error,
  { error, error_description: description },
]);

/** The examples of the documents by name: each is a whole body. */
export const namedExamples: Readonly<Record<string, unknown>> = {
  records: [exampleSubscription],
  recordsCsv: csv,
  recordsNdjson: record,
  subscription: exampleSubscription,
  history,
  summary,
  findings,
  changes,
  changesSummary,
  changesNdjson: `${record}${JSON.stringify({ next: changes.next, has_more: false })}\n`,
  tokenResponse,
  load: {
    tenant: 'acme',
    import_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    dry_run: false,
    outcome: 'loaded',
    read: 1,
    skipped: 0,
    accepted: 1,
    rejected: 0,
    inserted: 1,
    updated: 0,
    unchanged: 0,
    seconds: 0.011,
    errors: [],
    correlation_id: '9f8a6c1e-4b07-4f7e-9a53-3f1f2f6a7c10',
  },
  introspection,
  health: { status: 'ok' },
  metrics: `# HELP subreport_exports_in_progress Exports in progress
# TYPE subreport_exports_in_progress gauge
subreport_exports_in_progress 2
`,
  ...Object.fromEntries(tokenErrors),
  ...operatorExamples,
  ...problemExamples,
};
