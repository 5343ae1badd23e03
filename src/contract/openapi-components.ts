import { RemovedSubscription } from './change.ts';
import { Fault, Problem } from './problem.ts';
import { Product } from './product.ts';
import { printableAscii } from './schema.ts';
import { Subscription } from './subscription.ts';
import { SubscriptionSummary } from './summary.ts';
import { IntrospectionResponse, TokenErrorBody, TokenQuery, TokenRequest, TokenResponse } from './token.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The schemas that have a name in the document; wherever one stands inside another, the document
 * refers to it.
 */
const named: Readonly<Record<string, object>> = {
  Subscription,
  SubscriptionSummary,
  Product,
  RemovedSubscription,
  Problem,
  Fault,
  TokenRequest,
  TokenResponse,
  TokenErrorBody,
  TokenQuery,
  IntrospectionResponse,
};

/** `components` of the OpenAPI document (OpenAPI 3.1 §4.8.7). */
export function openApiComponents(publicUrl: string): Json {
  return {
    securitySchemes: securitySchemes(publicUrl),
    parameters,
    headers,
    schemas: {
      ...Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, referring(schema, name)])),
      ...documents,
    },
  };
}

const securitySchemes = (publicUrl: string): Json => ({
  accessToken: {
    type: 'oauth2',
    description:
      'An access token of the token endpoint, sent as Authorization: Bearer (RFC 6750). A JWT as RFC8725 asks: asymmetric, with type and audience.',
    flows: {
      clientCredentials: {
        tokenUrl: `${publicUrl}/oauth2/token`,
        refreshUrl: `${publicUrl}/oauth2/token`,
        scopes: { 'subscription:read': 'Read the report of your own subscriptions' },
      },
    },
  },
  client: {
    type: 'http',
    scheme: 'basic',
    description: 'client_id and client_secret, unless they are in the body (RFC 6749 §2.3.1)',
  },
});

const parameters: Json = {
  'X-Correlation-ID': {
    name: 'X-Correlation-ID',
    in: 'header',
    description:
      'A unique text of your choice that traces the request; it is in the answer, in each error and in our log',
    schema: { type: 'string', maxLength: 256, pattern: printableAscii, examples: ['order-4711'] },
  },
  'Cache-Control': {
    name: 'Cache-Control',
    in: 'header',
    description: 'no-cache is welcome and changes nothing: every answer is fresh',
    schema: { type: 'string', maxLength: 256, pattern: printableAscii, examples: ['no-cache'] },
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    description: 'The ETag of an answer that you have: 304 without a body when it is still right (RFC 9110 §13.1.2)',
    schema: { type: 'string', maxLength: 2048, pattern: printableAscii, examples: ['"m9vRcR2m0i3bqYwCqv0nN3x7b1c"'] },
  },
};

const text = (description: string, example: string): Json => ({
  description,
  schema: { type: 'string', maxLength: 8192, pattern: printableAscii, examples: [example] },
});
const count = (description: string, example: number): Json => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [example] },
});

const headers: Json = {
  'X-Correlation-ID': text('The correlation id of the request, or a new one', 'order-4711'),
  'X-Next-Page': text(
    'URL of the next page, only when there is one',
    'https://reports.example.com/connect-api/v1/subscription?size=20&page=2&cursor=WzE',
  ),
  'X-Previous-Page': text(
    'URL of the previous page, only when there is one',
    'https://reports.example.com/connect-api/v1/subscription?size=20&page=1&cursor=WzE',
  ),
  Link: text(
    'The pages first, prev, next and last (RFC 8288)',
    '<https://reports.example.com/connect-api/v1/subscription?size=20&page=1>; rel="first"',
  ),
  'X-Next-Cursor': text('The cursor of the next page, only when there is one: a member of the next search', 'WzE'),
  'X-Previous-Cursor': text('The cursor of the previous page, only when there is one', 'WzE'),
  'X-Total-Count': count('Records of the whole report, exact', 2000),
  'X-Total-Pages': count('Pages of the whole report', 100),
  'X-Current-Page': count('Number of this page', 1),
  'X-Count-Per-Page': count('Page size that was used', 20),
  'X-Applied-Filters': text(
    'The filters, the date field and the order that were applied, as a query string with dates in UTC; an e-mail is shown as ***; after expires-within the span that it meant',
    'status=ACTIVE,DEPLETED&date-field=created&sort=createdDate',
  ),
  ETag: text(
    'A strong tag of the answer: changes with the query and with each change of your records (RFC 9110 §8.8.3)',
    '"m9vRcR2m0i3bqYwCqv0nN3x7b1c"',
  ),
  'X-Export-Rows': count('Trailer field at the end of a whole report: its records', 2000),
  'X-Export-SHA256': text(
    'Trailer field at the end of a whole report: SHA-256 of its bytes (of NDJSON: of those before the last line), hexadecimal',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  ),
  'Content-Disposition': text(
    'A name to save the answer under, for CSV and NDJSON',
    'attachment; filename="subscriptions.csv"',
  ),
  'Server-Timing': text(
    'Milliseconds of each stage of the report, or of cache when nothing had to be read',
    'parse;dur=0.1, plan;dur=0.0, run;dur=0.6, format;dur=0.1',
  ),
  RateLimit: text(
    'What is left of the limit, when one is set (draft-ietf-httpapi-ratelimit-headers)',
    '"client";r=598;t=42',
  ),
  'RateLimit-Policy': text('The limit, when one is set', '"client";q=600;w=60'),
  'Retry-After': count('Seconds to wait before trying again', 2),
  'WWW-Authenticate': text(
    'What is wrong with the credentials (RFC 6750 §3)',
    'Bearer realm="subreport", error="invalid_token"',
  ),
};

const shortText = { type: 'string', maxLength: 2048, pattern: printableAscii };

/** Documents of other standards, as far as ours go. */
const documents: Json = {
  Health: {
    type: 'object',
    description: 'A sign of life',
    required: ['status'],
    properties: { status: { type: 'string', enum: ['ok'], maxLength: 2 } },
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
 * A schema as plain JSON in which every named schema inside it is a reference; `name` is its own,
 * if it has one.
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
