import { DescribedRemoval, DescribedSubscription, RemovedSubscription } from '../../packages/contract/change.ts';
import { ChangesSummary } from '../../packages/contract/changes-summary.ts';
import { SubscriptionFindings } from '../../packages/contract/findings.ts';
import { SubscriptionHistory } from '../../packages/contract/history.ts';
import { LoadSummary, RejectedRow } from '../../packages/contract/load.ts';
import {
  IntrospectionResponse,
  TokenErrorBody,
  TokenQuery,
  TokenRequest,
  TokenResponse,
} from '../../packages/contract/oauth/token.ts';
import * as audit from '../../packages/contract/operator/audit.ts';
import * as client from '../../packages/contract/operator/client.ts';
import * as doctor from '../../packages/contract/operator/doctor.ts';
import * as imports from '../../packages/contract/operator/import.ts';
import * as key from '../../packages/contract/operator/key.ts';
import * as setting from '../../packages/contract/operator/setting.ts';
import * as tenant from '../../packages/contract/operator/tenant.ts';
import * as token from '../../packages/contract/operator/token.ts';
import { Fault, Problem } from '../../packages/contract/problem.ts';
import { Product } from '../../packages/contract/product.ts';
import { exportSummaryPreference } from '../../packages/contract/report.ts';
import { printableAscii } from '../../packages/contract/schema.ts';
import { Subscription } from '../../packages/contract/subscription.ts';
import { exampleExplanation, SubscriptionSummary } from '../../packages/contract/summary.ts';
import { namedExamples } from './examples.ts';
import type { Json } from './responses.ts';

/** The schemas of the operator's API: the exports whose names begin with a capital letter. */
function schemasIn(...modules: readonly object[]): Record<string, object> {
  const exported = modules
    .flatMap((each) => Object.entries(each as Record<string, object>))
    .filter(([name]) => /^[A-Z]/.test(name));
  return Object.fromEntries(exported.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The named schemas of the documents. Other schemas refer to them with `$ref`. */
const named: Readonly<Record<string, object>> = {
  Subscription,
  SubscriptionSummary,
  SubscriptionFindings,
  Product,
  RemovedSubscription,
  DescribedSubscription,
  DescribedRemoval,
  SubscriptionHistory,
  ChangesSummary,
  Problem,
  Fault,
  TokenRequest,
  TokenResponse,
  TokenErrorBody,
  TokenQuery,
  IntrospectionResponse,
  LoadSummary,
  RejectedRow,
  ...schemasIn(tenant, client, imports, doctor, setting, key, token, audit),
};

/**
 * The components (OpenAPI 3.1 §4.8.7) that the paths of a document refer to, directly or through
 * other components.
 */
export function usedComponents(paths: Json): Json {
  const all = components();
  const used = new Set<string>();
  const follow = (json: unknown): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(json).matchAll(reference)) {
      if (used.has(`${kind} ${name}`)) continue;
      used.add(`${kind} ${name}`);
      follow(all[kind]?.[name]);
    }
  };
  follow(paths);
  return Object.fromEntries(
    Object.entries(all).map(([kind, members]) => [
      kind,
      Object.fromEntries(Object.entries(members).filter(([name]) => used.has(`${kind} ${name}`))),
    ]),
  );
}

const reference = /"#\/components\/(\w+)\/([^"]+)"/g;

const components = (): Readonly<Record<string, Json>> => ({
  parameters,
  headers,
  examples: Object.fromEntries(Object.entries(namedExamples).map(([name, value]) => [name, { value }])),
  schemas: {
    ...Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, referring(schema, name)])),
    ...documents,
  },
});

/** Authentication on the management listener, which has no token endpoint. */
export const operatorSecuritySchemes: Json = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token with the scope subscription:write, issued by the token endpoint of the public listener (RFC 6750). The token is a JWT that follows RFC8725.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sro_ and 43 characters',
    description:
      "An operator's token, created by `subreport operator create` or createOperator (RFC 6750). It is opaque: only its hash is stored.",
  },
};

/** Authentication on the public listener. */
export const securitySchemes = (publicUrl: string): Json => ({
  accessToken: {
    type: 'oauth2',
    description:
      'An access token issued by the token endpoint, sent as Authorization: Bearer (RFC 6750). The token is a JWT that follows RFC8725: asymmetric signature, explicit type, audience.',
    flows: {
      clientCredentials: {
        tokenUrl: `${publicUrl}/oauth2/token`,
        refreshUrl: `${publicUrl}/oauth2/token`,
        scopes: { 'subscription:read': 'Read your subscriptions' },
      },
    },
  },
  client: {
    type: 'http',
    scheme: 'basic',
    description: 'client_id and client_secret, unless sent in the request body (RFC 6749 §2.3.1)',
  },
});

const parameters: Json = {
  'X-Correlation-ID': {
    name: 'X-Correlation-ID',
    in: 'header',
    description:
      'Any unique string, for tracing the request. It is returned in the response and in every error, and written to the log',
    schema: { type: 'string', maxLength: 256, pattern: printableAscii, examples: ['order-4711'] },
  },
  'Cache-Control': {
    name: 'Cache-Control',
    in: 'header',
    description: 'Accepted and ignored: every response is current, with or without no-cache',
    schema: { type: 'string', maxLength: 256, pattern: printableAscii, examples: ['no-cache'] },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description: `${exportSummaryPreference}: a whole report as CSV also ends with the summary line of NDJSON, for clients that cannot read trailers (RFC 7240). Other preferences are ignored`,
    schema: { type: 'string', maxLength: 256, pattern: printableAscii, examples: [exportSummaryPreference] },
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    description:
      'The ETag of a cached response. The response is 304 Not Modified while it is still valid (RFC 9110 §13.1.2)',
    schema: { type: 'string', maxLength: 2048, pattern: printableAscii, examples: ['"m9vRcR2m0i3bqYwCqv0nN3x7b1c"'] },
  },
};

const text = (description: string, example: string): Json => ({
  description,
  schema: { type: 'string', maxLength: 3072, pattern: printableAscii, examples: [example] },
});
const count = (description: string, example: number): Json => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [example] },
});

const headers: Json = {
  'X-Correlation-ID': text('The correlation id of the request, or a generated one', 'order-4711'),
  'X-Next-Page': text(
    'URL of the next page; absent on the last page',
    'https://reports.example.com/connect-api/v1/subscription?size=20&page=2&cursor=WzE',
  ),
  'X-Previous-Page': text(
    'URL of the previous page; absent on the first page',
    'https://reports.example.com/connect-api/v1/subscription?size=20&page=1&cursor=WzE',
  ),
  Link: text(
    'URLs of the first, prev, next and last pages (RFC 8288), or of the next one alone if all do not fit. Absent from every page if the filters have more than about 350 characters in a URL, so follow X-Next-Page',
    '<https://reports.example.com/connect-api/v1/subscription?size=20&page=1>; rel="first"',
  ),
  'X-Next-Cursor': text(
    'Cursor of the next page, to send as cursor in the next search; absent on the last page',
    'WzE',
  ),
  'X-Previous-Cursor': text('Cursor of the previous page; absent on the first page', 'WzE'),
  'X-Total-Count': count('Exact number of records in the whole report', 2000),
  'X-Total-Pages': count('Number of pages in the whole report', 100),
  'X-Current-Page': count('Number of this page', 1),
  'X-Count-Per-Page': count('Page size', 20),
  'X-Applied-Filters': text(
    'The applied filters, date field and sort order, as a query string with dates in UTC. An email is shown as ***, a list by its number of values; expires-within is followed by the interval it resolved to. Absent if it does not fit',
    'status=ACTIVE,DEPLETED&date-field=created&sort=createdDate',
  ),
  'X-Explanation': text(
    'Why no record matches: no record at all has a status, product or plan of the filters, or a SIM has the ICCID with or without a check digit. Characters other than printable ASCII, and %, are percent-encoded. Absent if records match, for other reasons, or if it does not fit',
    exampleExplanation,
  ),
  'X-Not-Found': text(
    'For each list of a search, the values that no record of yours has at that moment, whatever the other filters: their positions in the list from 0, of a repeated value the first, as numbers and ranges or, if these have more than 250 characters, as a hexadecimal number with these bits: 0xe4 means 2,5-7. Absent without a list',
    'iccid=2,5-7&id=',
  ),
  'X-Revision': count('The revision of your records that the response shows', 42),
  'X-Erased-Count': count(
    'Records that the past report had, and that have been erased since, whatever the filters; absent if there are none',
    2,
  ),
  ETag: text(
    'Strong entity tag. It depends on the query, and changes whenever any of your records changes (RFC 9110 §8.8.3)',
    '"m9vRcR2m0i3bqYwCqv0nN3x7b1c"',
  ),
  'X-Export-Rows': count('Trailer of a whole report: the number of its records', 2000),
  'X-Export-SHA256': text(
    'Trailer of a whole report: hexadecimal SHA-256 of its bytes (for NDJSON: of all bytes before the last line)',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  ),
  'Preference-Applied': text('The preference of a whole report that was applied', exportSummaryPreference),
  'Content-Disposition': text('Suggested file name, for CSV and NDJSON', 'attachment; filename="subscriptions.csv"'),
  'Server-Timing': text(
    'Duration of each stage of the report in milliseconds; empty for a response that has none, absent if it does not fit',
    'parse;dur=0.1, plan;dur=0.0, run;dur=0.6, format;dur=0.1',
  ),
  RateLimit: text(
    'Remaining quota of the client and seconds until its window ends (draft-ietf-httpapi-ratelimit-headers)',
    '"client";r=598;t=42',
  ),
  'RateLimit-Policy': text('The rate limit of the client: requests, and seconds of the window', '"client";q=600;w=60'),
  'Retry-After': count('Seconds to wait before retrying', 2),
  'WWW-Authenticate': text(
    'Why the credentials were rejected (RFC 6750 §3)',
    'Bearer realm="subreport", error="invalid_token"',
  ),
};

const shortText = { type: 'string', maxLength: 2048, pattern: printableAscii };

/** The parts of other standards' documents that this service uses. */
const documents: Json = {
  Health: {
    type: 'object',
    description: 'Health status',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['ok'] } },
    additionalProperties: false,
  },
  KeySet: {
    type: 'object',
    description: 'A JSON Web Key Set (RFC 7517 §5)',
    required: ['keys'],
    properties: {
      keys: {
        type: 'array',
        maxItems: 16,
        items: {
          type: 'object',
          description: 'A public key (RFC 7517 §4)',
          properties: Object.fromEntries(
            ['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e'].map((name) => [name, shortText]),
          ),
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
  },
  ServerMetadata: {
    type: 'object',
    description: 'Authorization server metadata (RFC 8414 §2)',
    required: ['issuer', 'token_endpoint', 'jwks_uri', 'response_types_supported', 'grant_types_supported'],
    properties: {
      ...Object.fromEntries(
        [
          'issuer',
          'token_endpoint',
          'jwks_uri',
          'revocation_endpoint',
          'introspection_endpoint',
          'service_documentation',
        ].map((name) => [name, shortText]),
      ),
      ...Object.fromEntries(
        [
          'response_types_supported',
          'grant_types_supported',
          'scopes_supported',
          'subject_types_supported',
          'id_token_signing_alg_values_supported',
          'token_endpoint_auth_methods_supported',
          'revocation_endpoint_auth_methods_supported',
          'introspection_endpoint_auth_methods_supported',
        ].map((name) => [name, { type: 'array', maxItems: 16, items: shortText }]),
      ),
    },
    additionalProperties: false,
  },
};

/**
 * A schema as plain JSON with `$ref` for every named schema inside it; `name` is the schema's own
 * name, if any.
 */
export function referring(schema: object, name?: string): unknown {
  const other = Object.entries(named).find(([each, value]) => each !== name && value === schema);
  if (other !== undefined) return { $ref: `#/components/schemas/${other[0]}` };
  if (Array.isArray(schema)) return schema.map((item) => (isObject(item) ? referring(item, name) : item));
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, isObject(value) ? referring(value, name) : value]),
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
