import type { TSchema } from 'typebox';
import { changeParameters, changesPage } from '../../packages/contract/change.ts';
import { changesSummaryParameters } from '../../packages/contract/changes-summary.ts';
import { recordColumns } from '../../packages/contract/csv.ts';
import { errorTable } from '../../packages/contract/error.ts';
import { tokenErrorStatuses } from '../../packages/contract/error-code.ts';
import { fieldList } from '../../packages/contract/fields.ts';
import { subscriptionParameters } from '../../packages/contract/history.ts';
import { listedMax, listParameters, notFoundHeader } from '../../packages/contract/listed-values.ts';
import { type Operation, type OperationId, operations } from '../../packages/contract/operations.ts';
import { reportParameters } from '../../packages/contract/query.ts';
import { apiPath, type PageLimits, reportFormats } from '../../packages/contract/report.ts';
import { descriptionOf, exampleOf } from '../../packages/contract/schema.ts';
import { StatusFilter, SubscriptionId } from '../../packages/contract/subscription.ts';
import { summaryParameters } from '../../packages/contract/summary.ts';
import { Type } from '../../packages/contract/type.ts';
import { codeSamples, sampleRequests } from './code-samples.ts';
import { referring, securitySchemes, usedComponents } from './components.ts';
import {
  createResponses,
  examplesOf,
  type Json,
  queryParameterObjects,
  requestHeaders,
  schemaRef,
  statusHeaders,
} from './responses.ts';

/** The values that differ between deployments. */
export interface OpenApiOptions {
  readonly publicUrl: string;
  readonly version: string;
  readonly limits: PageLimits;
}

/** Builds the OpenAPI 3.1 document from the contract. */
export function buildOpenApi({ publicUrl, version, limits }: OpenApiOptions): Json {
  const paths = openApiPaths(operations, (operationId) => ({
    ...describeOperation(operationId, limits),
    'x-codeSamples': codeSamples(publicUrl, operations[operationId], sampleRequests[operationId]),
  }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'subreport',
      version,
      description: `Subscription reporting service: a filtered, paged report of a client's own data subscriptions (eSIM/IoT connectivity plans). API version v1.0; base URL ${publicUrl}${apiPath}.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operator of this service', url: publicUrl },
    },
    servers: [{ url: publicUrl, description: 'The service, in production or local', 'x-internal': false }],
    tags: [
      { name: 'report', description: 'Read subscriptions' },
      { name: 'auth', description: 'Obtain and verify tokens' },
      { name: 'service', description: 'Health and description of the service' },
    ],
    paths,
    components: { securitySchemes: securitySchemes(publicUrl), ...usedComponents(paths) },
  };
}

/** Builds `paths` of a document from its operations. */
export function openApiPaths<Id extends string>(
  table: Readonly<Record<Id, Operation>>,
  describe: (operationId: Id) => Json,
): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, operation] of Object.entries<Operation>(table)) {
    const { method, path, tag, summary, description } = operation;
    const item = { operationId, tags: [tag], summary, description, ...describe(operationId as Id) };
    paths[path] = { ...paths[path], [method.toLowerCase()]: item };
  }
  return paths;
}

const { headerRefs, response, problems, publicDocument } = createResponses([
  'X-Correlation-ID',
  'RateLimit',
  'RateLimit-Policy',
]);

function describeOperation(operationId: OperationId, limits: PageLimits): Json {
  switch (operationId) {
    case 'listSubscriptions':
      return {
        security: bearer,
        parameters: [...queryParameterObjects(reportParameters(limits)), ...requestHeaders, prefer, ifNoneMatch],
        responses: {
          200: reportPage(limits, linkHeaders),
          304: notModified,
          ...problems(401, 403, 406, 410, 503),
        },
      };
    case 'searchSubscriptions':
      return describeSearch(limits);
    case 'getSubscription':
      return {
        security: bearer,
        parameters: [idInPath, ...queryParameterObjects(subscriptionParameters), ...requestHeaders, ifNoneMatch],
        responses: {
          200: response('The subscription', schemaRef('Subscription'), ['ETag', 'Server-Timing'], 'subscription'),
          304: notModified,
          ...problems(401, 403, 404, 406, 410, 503),
        },
      };
    case 'getSubscriptionHistory':
      return {
        security: bearer,
        parameters: [idInPath, ...requestHeaders, ifNoneMatch],
        responses: {
          200: response('The versions', schemaRef('SubscriptionHistory'), ['ETag', 'Server-Timing'], 'history'),
          304: notModified,
          ...problems(401, 403, 404, 406, 503),
        },
      };
    case 'getSubscriptionSummary':
      return describeSummary();
    case 'getSubscriptionFindings':
      return describeFindings();
    case 'listSubscriptionChanges':
      return describeChanges(limits);
    case 'getChangesSummary':
      return describeChangesSummary();
    case 'issueToken':
      return {
        ...formOperation('The token request', 'TokenRequest'),
        responses: { 200: response('The tokens', schemaRef('TokenResponse'), [], 'tokenResponse'), ...tokenErrors() },
      };
    case 'revokeToken':
      return {
        ...formOperation('The token to revoke', 'TokenQuery'),
        responses: {
          200: { description: 'The token is revoked, or was not valid', headers: headerRefs() },
          ...tokenErrors(),
        },
      };
    case 'introspectToken':
      return {
        ...formOperation('The token to introspect', 'TokenQuery'),
        responses: {
          200: response('The introspection result', schemaRef('IntrospectionResponse'), [], 'introspection'),
          ...tokenErrors(),
        },
      };
    case 'getKeySet':
      return publicDocument('The key set', schemaRef('KeySet'), { otherStatuses: [503] });
    case 'getAuthorizationServerMetadata':
    case 'getOpenidConfiguration':
      return publicDocument('The server metadata', schemaRef('ServerMetadata'), { otherStatuses: [503] });
    case 'getHealth':
      return publicDocument('The process is running', schemaRef('Health'), { example: 'health' });
    case 'getReadiness':
      return publicDocument('The service can serve reports', schemaRef('Health'), {
        example: 'health',
        otherStatuses: [503],
      });
    case 'getOpenapi':
      return publicDocument('The OpenAPI document', { type: 'object', description: 'An OpenAPI 3.1 document' });
  }
}

function describeSearch(limits: PageLimits): Json {
  return {
    security: bearer,
    parameters: [...requestHeaders, prefer],
    requestBody: {
      required: true,
      description: 'The parameters of the report as a JSON object',
      content: {
        'application/json': {
          schema: searchBody(limits),
          example: { iccid: ['8944500102198304826', '8944500102198304834'], status: ['ACTIVE', 'DEPLETED'], size: 50 },
        },
      },
    },
    responses: {
      200: reportPage(limits, [...cursorHeaders, notFoundHeader]),
      ...problems(401, 403, 406, 410, 413, 415, 503),
    },
  };
}

/**
 * The body of a search: the query parameters of the report as members of a JSON object. `size` and
 * `page` are numbers, `status`, `id`, `iccid`, `device-id` and `fields` may be arrays, `auto-renew`
 * and `all` may be booleans; the others are strings as in the query string.
 */
function searchBody(limits: PageLimits) {
  const parameters = reportParameters(limits);
  const members: Record<string, TSchema> = {
    ...parameters,
    ...Object.fromEntries(listParameters.map((name) => [name, orList(parameters[name])])),
    status: Type.Union([parameters.status, Type.Array(StatusFilter, { minItems: 1, maxItems: 16 })], {
      description: descriptionOf(parameters.status),
    }),
    'auto-renew': booleanOr(parameters['auto-renew']),
    fields: Type.Union([parameters.fields, fieldList], { description: descriptionOf(parameters.fields) }),
    all: booleanOr(parameters.all),
  };
  return Type.Object(
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)])),
    { additionalProperties: false, description: 'The filters, sort order and position of a report' },
  );
}

const orList = (value: TSchema) =>
  Type.Union([value, Type.Array(value, { minItems: 1, maxItems: listedMax })], {
    description: `${descriptionOf(value)}, or of a list of up to ${listedMax}: those that no record has are in ${notFoundHeader}`,
  });

const booleanOr = (word: TSchema) => Type.Union([Type.Boolean(), word], { description: descriptionOf(word) });

function describeFindings(): Json {
  return {
    security: bearer,
    parameters: [...requestHeaders, ifNoneMatch],
    responses: {
      200: response(
        'The findings',
        schemaRef('SubscriptionFindings'),
        ['X-Total-Count', 'X-Revision', 'ETag', 'Server-Timing'],
        'findings',
      ),
      304: notModified,
      ...problems(401, 403, 406, 503),
    },
  };
}

function describeSummary(): Json {
  return {
    security: bearer,
    parameters: [...queryParameterObjects(summaryParameters), ...requestHeaders, ifNoneMatch],
    responses: {
      200: response('The counts', schemaRef('SubscriptionSummary'), summaryHeaders, 'summary'),
      304: notModified,
      ...problems(401, 403, 406, 410, 503),
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
    content: { 'application/x-www-form-urlencoded': { schema: schemaRef(schema) } },
  },
});

/** One page of the report, with the headers that lead to other pages. */
function reportPage(limits: PageLimits, pagingHeaders: readonly string[]): Json {
  const records = { type: 'array', maxItems: limits.sizeMax, items: schemaRef('Subscription') };
  const { content, ...rest } = response(
    'One page of the report, or the whole report if all=true. With fields, records have no other members, even if those are required',
    records,
    [...pagingHeaders, ...pageHeaders],
    'records',
  );
  const lines = {
    [reportFormats.csv.mediaType]: { ...csvLines, ...examplesOf('recordsCsv') },
    [reportFormats.ndjson.mediaType]: { ...ndjsonLines, ...examplesOf('recordsNdjson') },
    [reportFormats.parquet.mediaType]: parquetFile,
  };
  return { ...rest, content: { ...(content as Json), ...lines } };
}

/** One page of changes and the token for the next one. */
function describeChanges(limits: PageLimits): Json {
  const headers = ['X-Next-Page', 'Link', 'X-Revision', 'ETag', 'Server-Timing'];
  const { content, ...rest } = response('The changes', referring(changesPage(limits)) as Json, headers, 'changes');
  return {
    security: bearer,
    parameters: [...queryParameterObjects(changeParameters(limits)), ...requestHeaders, ifNoneMatch],
    responses: {
      200: {
        ...rest,
        content: {
          ...(content as Json),
          [reportFormats.ndjson.mediaType]: { ...changeLines, ...examplesOf('changesNdjson') },
        },
      },
      304: notModified,
      ...problems(401, 403, 406, 410, 503),
    },
  };
}

function describeChangesSummary(): Json {
  const headers = ['X-Total-Count', 'X-Revision', 'ETag', 'Server-Timing'];
  return {
    security: bearer,
    parameters: [...queryParameterObjects(changesSummaryParameters), ...requestHeaders, ifNoneMatch],
    responses: {
      200: response('The counts', schemaRef('ChangesSummary'), headers, 'changesSummary'),
      304: notModified,
      ...problems(401, 403, 406, 410, 503),
    },
  };
}

const textDocument = (description: string, pattern: string): Json => ({
  schema: { type: 'string', description, pattern, maxLength: Number.MAX_SAFE_INTEGER },
});

const csvLines = textDocument(
  `RFC 4180 with a header row: ${recordColumns.join(',')}, or those of fields in its order. Dates are in UTC, or with dates=local in the zone, with their offsets. A value that starts with =, +, - or @ (ASCII or full-width) is prefixed with an apostrophe`,
  '^[A-Za-z_.,]+\\r\\n',
);

const ndjsonLines = textDocument(
  'One record per line, as in the JSON array. With all=true, the last line is {"summary":{"rows":N,"sha256":"…"}}; the hash covers all bytes before it',
  '^([{]|$)',
);

const parquetFile: Json = {
  schema: {
    type: 'string',
    format: 'binary',
    maxLength: Number.MAX_SAFE_INTEGER,
    description: `A Parquet file, only with all=true. Its columns are those of fields in its order, or all, named as in a table, such as activation_date and product_plan_id: dates are TIMESTAMP in milliseconds and UTC, product_period is INT32, auto_renew is BOOLEAN, all others are strings; only status may be null`,
  },
};

const changeLines = textDocument(
  'One change per line, as in the JSON array. The last line is {"next":"…","has_more":false}',
  '^[{]',
);

const idInPath: Json = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { ...SubscriptionId },
  description: descriptionOf(SubscriptionId),
  example: exampleOf(SubscriptionId),
};

const bearer = [{ accessToken: ['subscription:read'] }];

const linkHeaders = ['X-Next-Page', 'X-Previous-Page', 'Link'];

const cursorHeaders = ['X-Next-Cursor', 'X-Previous-Cursor'];

const pageHeaders = [
  'X-Total-Count',
  'X-Total-Pages',
  'X-Current-Page',
  'X-Count-Per-Page',
  'X-Applied-Filters',
  'X-Explanation',
  'X-Revision',
  'X-Erased-Count',
  'ETag',
  'X-Export-Rows',
  'X-Export-SHA256',
  'Preference-Applied',
  'Content-Disposition',
  'Server-Timing',
];

const summaryHeaders = [
  'X-Total-Count',
  'X-Applied-Filters',
  'X-Explanation',
  'X-Revision',
  'X-Erased-Count',
  'ETag',
  'Server-Timing',
];

/** For whole reports. */
const prefer = { $ref: '#/components/parameters/Prefer' };

/** For conditional requests: the client has a cached response. */
const ifNoneMatch = { $ref: '#/components/parameters/If-None-Match' };
const notModified: Json = {
  description: 'Not modified: the cached response is still valid',
  headers: headerRefs(['ETag']),
};

function tokenErrors(): Json {
  const statuses = [...new Set(Object.values(tokenErrorStatuses))];
  const errors = Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.entries(tokenErrorStatuses).filter(([, value]) => value === status);
      return [
        status,
        {
          description: codes.map(([code]) => code).join(', '),
          headers: headerRefs(statusHeaders[status]),
          content: {
            'application/json': { schema: schemaRef('TokenErrorBody'), ...examplesOf(...codes.map(([code]) => code)) },
          },
        },
      ];
    }),
  );
  // a URL that is too long is an invalid_request, as each URL with parameters is
  const { [errorTable.URI_TOO_LONG.status]: _, ...common } = problems();
  return { ...common, ...errors };
}
