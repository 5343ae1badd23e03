import type { TSchema } from 'typebox';
import { changeParameters, changesPage } from './change.ts';
import { recordColumns } from './csv.ts';
import { errorTable } from './error.ts';
import { openApiComponents, referring } from './openapi-components.ts';
import { apiPath, type OperationId, operations } from './operations.ts';
import { type PageLimits, reportParameters } from './query.ts';
import { reportFormats } from './report-format.ts';
import { descriptionOf, exampleOf } from './schema.ts';
import { searchBody } from './search.ts';
import { SubscriptionId } from './subscription.ts';
import { summaryParameters } from './summary.ts';
import { tokenErrorTable } from './token.ts';

/** The values that differ between deployments. */
interface OpenApiOptions {
  readonly publicUrl: string;
  readonly version: string;
  readonly limits: PageLimits;
}

type Json = Readonly<Record<string, unknown>>;

/** Builds the OpenAPI 3.1 document from the contract. */
export function buildOpenApi({ publicUrl, version, limits }: OpenApiOptions): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [operationId, { method, path, tag, summary, description }] of Object.entries(operations)) {
    const details = describeOperation(operationId as OperationId, limits);
    const item = { operationId, tags: [tag], summary, description, ...details };
    paths[path] = { ...paths[path], [method.toLowerCase()]: item };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'subreport',
      version,
      description: `Subscription reporting service: a filtered, paged report of a client's own data subscriptions (eSIM/IoT connectivity plans). API version v1.0; base URL ${publicUrl}${apiPath}.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operator of this service', url: publicUrl },
    },
    servers: [{ url: publicUrl, description: describeServer(publicUrl), 'x-internal': false }],
    tags: [
      { name: 'report', description: 'Read subscriptions' },
      { name: 'auth', description: 'Obtain and verify tokens' },
      { name: 'service', description: 'Health and description of the service' },
    ],
    paths,
    components: openApiComponents(publicUrl),
  };
}

function describeOperation(operationId: OperationId, limits: PageLimits): Json {
  switch (operationId) {
    case 'listSubscriptions':
      return {
        security: bearer,
        parameters: [...queryParameterObjects(reportParameters(limits)), ...requestHeaders, ifNoneMatch],
        responses: {
          200: reportPage(limits, linkHeaders),
          304: notModified,
          ...problems(400, 401, 403, 406, 414, 429, 431, 500, 503),
        },
      };
    case 'searchSubscriptions':
      return {
        security: bearer,
        parameters: requestHeaders,
        requestBody: {
          required: true,
          description: 'The parameters of the report as a JSON object',
          content: {
            'application/json': {
              schema: searchBody(limits),
              example: { email: 'ada@example.com', status: ['ACTIVE', 'DEPLETED'], size: 50 },
            },
          },
        },
        responses: {
          200: reportPage(limits, cursorHeaders),
          ...problems(400, 401, 403, 406, 413, 414, 415, 429, 431, 500, 503),
        },
      };
    case 'getSubscription':
      return {
        security: bearer,
        parameters: [
          {
            name: 'id',
            in: 'path',
            required: true,
            schema: { ...SubscriptionId },
            description: descriptionOf(SubscriptionId),
            example: exampleOf(SubscriptionId),
          },
          ...requestHeaders,
          ifNoneMatch,
        ],
        responses: {
          200: response('The subscription', ref('Subscription'), ['ETag', 'Server-Timing']),
          304: notModified,
          ...problems(400, 401, 403, 404, 406, 414, 429, 431, 500, 503),
        },
      };
    case 'getSubscriptionSummary':
      return describeSummary();
    case 'listSubscriptionChanges':
      return describeChanges(limits);
    case 'issueToken':
      return {
        ...formOperation('The token request', 'TokenRequest'),
        responses: { 200: response('The tokens', ref('TokenResponse')), ...tokenErrors() },
      };
    case 'revokeToken':
      return {
        ...formOperation('The token to revoke', 'TokenQuery'),
        responses: {
          200: { description: 'The token is revoked, or was not valid', headers: headerRefs(everyHeader) },
          ...tokenErrors(),
        },
      };
    case 'introspectToken':
      return {
        ...formOperation('The token to introspect', 'TokenQuery'),
        responses: { 200: response('The introspection result', ref('IntrospectionResponse')), ...tokenErrors() },
      };
    case 'getKeySet':
      return publicDocument('The key set', ref('KeySet'));
    case 'getAuthorizationServerMetadata':
    case 'getOpenidConfiguration':
      return publicDocument('The server metadata', ref('ServerMetadata'));
    case 'getHealth':
      return publicDocument('The process is running', ref('Health'));
    case 'getReadiness':
      return publicDocument('The service can serve reports', ref('Health'), 503);
    case 'getOpenapi':
      return publicDocument('The OpenAPI document', { type: 'object', description: 'An OpenAPI 3.1 document' });
  }
}

function describeSummary(): Json {
  return {
    security: bearer,
    parameters: [...queryParameterObjects(summaryParameters), ...requestHeaders, ifNoneMatch],
    responses: {
      200: response('The counts', ref('SubscriptionSummary'), summaryHeaders),
      304: notModified,
      ...problems(400, 401, 403, 406, 414, 429, 431, 500, 503),
    },
  };
}

/**
 * An operation with a URL-encoded body whose client authenticates with HTTP Basic or in the body.
 */
const formOperation = (description: string, schema: string): Json => ({
  security: [{ client: [] }, {}],
  parameters: requestHeaders,
  requestBody: {
    required: true,
    description,
    content: { 'application/x-www-form-urlencoded': { schema: ref(schema) } },
  },
});

/** One page of the report, with the headers that lead to other pages. */
function reportPage(limits: PageLimits, pagingHeaders: readonly string[]): Json {
  const records = { type: 'array', maxItems: limits.sizeMax, items: ref('Subscription') };
  const { content, ...rest } = response('One page of the report, or the whole report if all=true', records, [
    ...pagingHeaders,
    ...pageHeaders,
  ]);
  const lines = { [reportFormats.csv.mediaType]: csvLines, [reportFormats.ndjson.mediaType]: ndjsonLines };
  return { ...rest, content: { ...(content as Json), ...lines } };
}

/** One page of changes and the token for the next one. */
function describeChanges(limits: PageLimits): Json {
  const headers = ['X-Next-Page', 'Link', 'ETag', 'Server-Timing'];
  const { content, ...rest } = response('The changes', referring(changesPage(limits)) as Json, headers);
  return {
    security: bearer,
    parameters: [...queryParameterObjects(changeParameters(limits)), ...requestHeaders, ifNoneMatch],
    responses: {
      200: { ...rest, content: { ...(content as Json), [reportFormats.ndjson.mediaType]: changeLines } },
      304: notModified,
      ...problems(400, 401, 403, 406, 410, 414, 429, 431, 500, 503),
    },
  };
}

const textDocument = (description: string, pattern: string): Json => ({
  schema: { type: 'string', description, pattern, maxLength: Number.MAX_SAFE_INTEGER },
});

const csvLines = textDocument(
  `RFC 4180 with a header row: ${recordColumns.join(',')}. A value that starts with =, +, - or @ (ASCII or full-width) is prefixed with an apostrophe`,
  `^${recordColumns.join(',')}\\r\\n`,
);

const ndjsonLines = textDocument(
  'One record per line, as in the JSON array. With all=true, the last line is {"summary":{"rows":N,"sha256":"…"}}; the hash covers all bytes before it',
  '^([{]|$)',
);

const changeLines = textDocument(
  'One change per line, as in the JSON array. The last line is {"next":"…","has_more":false}',
  '^[{]',
);

const describeServer = (publicUrl: string): string => (publicUrl.startsWith('https://') ? 'Production' : 'Local');

const bearer = [{ accessToken: ['subscription:read'] }];

/** Optional headers of every request (`spec.md` "Request headers"). */
const requestHeaders = ['X-Correlation-ID', 'Cache-Control'].map((name) => ({
  $ref: `#/components/parameters/${name}`,
}));

const linkHeaders = ['X-Next-Page', 'X-Previous-Page', 'Link'];

const cursorHeaders = ['X-Next-Cursor', 'X-Previous-Cursor'];

const pageHeaders = [
  'X-Total-Count',
  'X-Total-Pages',
  'X-Current-Page',
  'X-Count-Per-Page',
  'X-Applied-Filters',
  'ETag',
  'X-Export-Rows',
  'X-Export-SHA256',
  'Content-Disposition',
  'Server-Timing',
];

const summaryHeaders = ['X-Total-Count', 'X-Applied-Filters', 'ETag', 'Server-Timing'];

const everyHeader = ['X-Correlation-ID', 'RateLimit', 'RateLimit-Policy'];

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

function response(description: string, schema: Json, headers: readonly string[] = []): Json {
  return {
    description,
    headers: headerRefs([...everyHeader, ...headers]),
    content: { 'application/json': { schema } },
  };
}

/** For conditional requests: the client has a cached response. */
const ifNoneMatch = { $ref: '#/components/parameters/If-None-Match' };
const notModified: Json = {
  description: 'Not modified: the cached response is still valid',
  headers: headerRefs([...everyHeader, 'ETag']),
};

/** The problem responses of an operation by status; all codes of a status share one description. */
function problems(...statuses: readonly number[]): Json {
  return Object.fromEntries(
    statuses.map((status) => {
      const kinds = Object.entries(errorTable).filter(([, kind]) => kind.status === status);
      const description = kinds.map(([code, { title }]) => `${code}: ${title}`).join('. ');
      const headers = [...everyHeader, ...(statusHeaders[status] ?? [])];
      return [
        status,
        {
          description,
          headers: headerRefs(headers),
          content: { 'application/problem+json': { schema: ref('Problem') } },
        },
      ];
    }),
  );
}

const statusHeaders: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function tokenErrors(): Json {
  const statuses = [...new Set(Object.values(tokenErrorTable).map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.entries(tokenErrorTable).filter(([, kind]) => kind.status === status);
      const headers = [...everyHeader, ...(statusHeaders[status] ?? [])];
      return [
        status,
        {
          description: codes.map(([code]) => code).join(', '),
          headers: headerRefs(headers),
          content: { 'application/json': { schema: ref('TokenErrorBody') } },
        },
      ];
    }),
  );
}

/** A document that needs no authentication. */
function publicDocument(description: string, schema: Json, ...otherStatuses: readonly number[]): Json {
  return {
    security: [],
    responses: { 200: response(description, schema), ...problems(400, 429, 431, 500, ...otherStatuses) },
  };
}

function queryParameterObjects(schemas: Readonly<Record<string, TSchema>>): Json[] {
  return Object.entries(schemas).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    description: descriptionOf(schema),
    schema,
  }));
}
